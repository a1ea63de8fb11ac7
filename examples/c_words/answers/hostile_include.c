/* Has its compiler read the verifier, its parent's files and odd devices. */
#if __has_include("verifier.py")
#include "verifier.py"
#endif
#if __has_include("/proc/1/environ")
#include "/proc/1/environ"
#endif
#include "/dev/stdin"
#include "/dev/tty"

int main(void)
{
	return 0;
}
