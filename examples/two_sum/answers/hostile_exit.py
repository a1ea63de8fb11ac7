"""Ends with success before anything is called."""
import os

os._exit(0)
