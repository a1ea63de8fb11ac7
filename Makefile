# bailiff.  Everything is built under build/$(VARIANT)/; sources are found by
# wildcard, so a new file needs no line here.
#
#   make                release build          make demo    build, then a tour
#   make check          every test             make lint    the lints alone
#   make VARIANT=san    clang, ASan and UBSan  make help    all targets
#
# A unit test is selftest/t-NAME.c: it is linked with libbailiff.a, and also
# with the helper's objects (less main.o) when it is called t-helper-NAME.c.
# A line "/* link: -Wl,--wrap=close */" in it adds words to its link.  Every
# test runs from the top folder with BUILD=build/VARIANT in its environment.

VARIANT	?= release
PREFIX	?= /usr/local
DESTDIR	?=
LIBDIR	?= $(PREFIX)/lib
MANDIR	?= $(PREFIX)/share/man
UNITDIR	?= $(PREFIX)/lib/systemd/system
BASHDIR	?= $(PREFIX)/share/bash-completion/completions
ZSHDIR	?= $(PREFIX)/share/zsh/site-functions
FISHDIR	?= $(PREFIX)/share/fish/vendor_completions.d
APPARMORDIR ?= $(PREFIX)/share/bailiff/apparmor.d
# setuid: mode 4750; caps: file capabilities; none: for bailiff.socket alone
HELPER_MODE ?= setuid
# no: the rules are compiled later, on the machine that they are for
RULES	?= yes
FUZZ_SECONDS ?= 30
JOBS	?= 2
# For another machine: CROSS=aarch64-linux-gnu-, and in SYSROOT its headers and
# libraries, where they are not among this one's.
CROSS	?=
SYSROOT	?=

B	:= build/$(CROSS)$(VARIANT)
O	:= $(B)/obj
G	:= $(B)/gen
F	:= build/fuzz
ARCH	:= $(if $(CROSS),$(firstword $(subst -, ,$(CROSS))),$(shell uname -m))
HCC	:= $(CROSS)gcc $(if $(SYSROOT),--sysroot=$(SYSROOT))
CLANG	:= clang
AR	:= $(CROSS)ar
ifeq ($(VARIANT),san)
CC	:= $(CLANG)
else
CC	:= $(HCC)
endif
# what is run while building
NATIVE	:= $(if $(CROSS),native,tool)
RULESC	:= $(B)/$(if $(CROSS),native-rules,bailiff-rules)

.SUFFIXES:
.DELETE_ON_ERROR:
.SECONDARY:
.DEFAULT_GOAL := all
SHELL	:= /bin/sh

# --- flags -----------------------------------------------------------------

WERROR	?= -Werror
ifeq ($(ARCH),x86_64)
FLOWGUARD := -fcf-protection=full
else ifeq ($(ARCH),aarch64)
FLOWGUARD := -mbranch-protection=standard
endif

BASE	:= -std=c11 -D_GNU_SOURCE -O2 -g -ffile-prefix-map=$(CURDIR)=. \
	-fno-strict-aliasing -fno-strict-overflow \
	-fno-delete-null-pointer-checks -fno-common -fvisibility=hidden \
	-ffunction-sections -fdata-sections -I$(G)
WARN	:= -Wall -Wextra $(WERROR) -Wshadow -Wcast-qual -Wstrict-prototypes \
	-Wmissing-prototypes -Wold-style-definition -Wvla -Walloca -Wundef \
	-Wformat=2 -Wswitch-enum -Wnull-dereference -Wpointer-arith \
	-Wwrite-strings -Wredundant-decls -Wbad-function-cast
WNARROW	:= -Wconversion -Wsign-conversion
WGCC	:= -Wcast-align=strict -Wduplicated-cond -Wduplicated-branches \
	-Wlogical-op
HARD	:= -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=3 -fstack-protector-strong \
	-fstack-clash-protection $(FLOWGUARD) -ftrivial-auto-var-init=zero \
	-fzero-call-used-regs=used-gpr
TRAP	:= -fsanitize=bounds,shift,signed-integer-overflow,object-size \
	-fsanitize-undefined-trap-on-error
SANS	:= -fsanitize=address,undefined -fno-sanitize-recover=all \
	-fno-omit-frame-pointer
LINK	:= -Wl,-z,relro,-z,now,-z,noexecstack,-z,separate-code,-z,nodlopen \
	-Wl,--gc-sections,--fatal-warnings

# the helper: always gcc, always these
HFLAGS	:= $(BASE) -fPIE $(HARD) $(WARN) $(WNARROW) -Warith-conversion $(WGCC) \
	-Wstack-usage=8192 $(TRAP)
# the client and its tools
CFLAGS_release := $(BASE) -fPIC $(HARD) $(WARN) $(WNARROW) -Warith-conversion \
	$(WGCC) -Wstack-usage=65536
CFLAGS_cov := $(BASE) -fPIC $(WARN) $(WNARROW) -Warith-conversion $(WGCC) -O0 \
	--coverage
CFLAGS_san := $(BASE) -fPIC $(WARN) $(WNARROW) -O1 $(SANS)
CFLAGS	:= $(CFLAGS_$(VARIANT))
LDFLAGS_release := -pie $(LINK)
LDFLAGS_cov := -pie --coverage
LDFLAGS_san := -pie $(SANS)
LDFLAGS	:= $(LDFLAGS_$(VARIANT))
# tests: the same, with plain arithmetic
TFLAGS	:= $(filter-out -Wconversion -Wsign-conversion -Warith-conversion \
	-Wstack-usage=% -Wmissing-prototypes -Wswitch-enum -Wcast-qual \
	-Wduplicated-branches -Wnull-dereference,$(CFLAGS)) -Wno-unused-parameter
# tools, and the static programs for cells
PLAIN	:= $(CFLAGS_release)
ifeq ($(CFLAGS),)
$(error VARIANT is release, san or cov)
endif

DEFS	:= -DBL_SOCKET_PATH='"/run/bailiff.sock"' \
	-DBL_HELPER_PATH='"$(PREFIX)/libexec/bailiff/bailiff-helper"' \
	$(if $(INSTALL_HINT),-DBL_INSTALL='"$(INSTALL_HINT)"')
COMMIT	:= $(shell git describe --tags --always --dirty 2>/dev/null || \
	cat .commit 2>/dev/null || echo unknown)
LIBS	:= -ljansson -lmnl

# --- sources ---------------------------------------------------------------

POLICY	 := policy/proto.c policy/reply.c policy/rules.c policy/rules_check.c \
	policy/spec.c
HELPER	 := $(wildcard helper/*.c)
PROBE	 := $(wildcard client/probe*.c)
CLIENT	 := $(filter-out client/answer.c client/audit.c client/cellinit.c $(PROBE),\
	$(wildcard client/*.c)) \
	$(wildcard client/*.S providers/*.c providers/*/*.c)
COMMANDS := client/main.c $(wildcard client/cmd_*.c)
TESTS	 := $(patsubst selftest/%.c,%,$(wildcard selftest/t-*.c))
FUZZERS	 := $(patsubst selftest/fuzz/%.c,%,$(wildcard selftest/fuzz/*.c))
SIDE	 := $(filter filter_exec hostile, \
	$(patsubst selftest/%.c,%,$(wildcard selftest/*.c)))

obj	  = $(patsubst %,$(O)/$(1)/%.o,$(basename $(2)))
# the helper needs no more of policy/ than this
H_OBJS	 := $(call obj,h,$(HELPER) policy/proto.c policy/rules.c policy/spec.c)
C_OBJS	 := $(call obj,c,$(filter-out $(COMMANDS),$(CLIENT)) $(POLICY))
M_OBJS	 := $(call obj,c,$(COMMANDS))
# the helper's own objects serve its tests, but in the other variants
ifeq ($(VARIANT),release)
TH	 := h
else
TH	 := th
endif
TH_OBJS	 := $(call obj,$(TH),$(filter-out helper/main.c,$(HELPER)))
FILTERS	 := $(G)/filters-x86_64.h $(G)/filters-aarch64.h
GEN	 := $(FILTERS) $(G)/filters.h $(G)/rules-default.h

BIN	 := $(addprefix $(B)/,bailiff bailiff-helper bailiff-rules bailiff-audit filterc \
	libbailiff.a libbailiff.so answer.bin cellinit.bin probe.bin)
TBIN	 := $(addprefix $(B)/,$(TESTS) $(SIDE))

# These goals install what is missing before anything is compiled.
ifneq ($(filter check check-root check-vm lint fuzz coverage proof bench \
	bench-quick deps deps-vm,$(MAKECMDGOALS)),)
GATE	 := deps
else ifneq ($(filter demo deps-min,$(MAKECMDGOALS)),)
GATE	 := deps-min
endif

.PHONY: all tests help deps deps-min deps-deb deps-vm demo check check-root \
	check-vm vm-packages vm-arm64 lint fuzz fuzzers \
	bench bench-quick coverage install uninstall programs deb dist clean
all: programs $(TBIN)
programs: $(BIN)
tests: $(TBIN)

help:
	@echo "all deps deps-vm demo check check-root check-vm lint fuzz bench bench-quick"
	@echo "coverage programs install uninstall deb dist clean"
	@echo "VARIANT=release|san|cov VM=few|some|all FUZZ_SECONDS JOBS PREFIX DESTDIR"
	@echo "HELPER_MODE=setuid|caps|none RULES=yes|no LIBDIR MANDIR UNITDIR"
	@echo "BASHDIR ZSHDIR FISHDIR APPARMORDIR CROSS=aarch64-linux-gnu- SYSROOT"

# --- compiling -------------------------------------------------------------

# V=1 shows whole commands
ifeq ($(V),)
Q	:= @
say	 = @echo '  $(1) $(subst $(CURDIR)/,,$@)'
endif
# a compiler call: $(1) compiler, $(2) flags
define compile
@mkdir -p $(@D)
$(call say,CC  )
$(Q)$(1) $(2) -MMD -MP -c -o $@ $<
endef

$(O)/h/helper/%.o: helper/%.c $(GEN) | $(GATE)
	$(call compile,$(HCC),$(HFLAGS) $(DEFS))
$(O)/h/policy/%.o: policy/%.c | $(GATE)
	$(call compile,$(HCC),$(HFLAGS))
$(O)/th/helper/%.o: helper/%.c $(GEN) | $(GATE)
	$(call compile,$(CC),$(CFLAGS) $(DEFS))
$(O)/c/%.o: %.c | $(GATE)
	$(call compile,$(CC),$(CFLAGS) $(DEFS))
BLOBS	 := $(addprefix $(B)/,answer.bin cellinit.bin probe.bin)
$(O)/c/%.o: %.S $(BLOBS) | $(GATE)
	$(call compile,$(CC),-fPIC -Wa$(comma)-I$(B) -I$(B))
PY	 := $(addprefix client/py/,bailiff.py bailiff_plain.py runner.py serve.py \
	sitecustomize.py)
$(O)/c/client/py_blob.o $(F)/obj/client/py_blob.o: $(PY)
$(O)/tool/%.o: %.c | $(GATE)
	$(call compile,$(HCC),$(PLAIN) $(DEFS))
$(O)/native/%.o: %.c | $(GATE)
	$(call compile,gcc,$(filter-out $(FLOWGUARD),$(PLAIN)) $(DEFS))
$(O)/t/%.o: %.c $(GEN) | $(GATE)
	$(call compile,$(CC),$(TFLAGS) $(DEFS))
comma	:= ,

# libmnl's mnl_attr_for_each narrows a pointer difference
$(O)/c/client/netproof.o: CFLAGS += -Wno-conversion

# the rules that a helper of a user's own has
$(O)/c/client/rootless.o $(F)/obj/client/rootless.o: $(G)/rules-default.h

# the commit goes into a header of its own, so that only its users follow it
$(M_OBJS): $(G)/commit
$(O)/c/client/%: DEFS += -DBL_COMMIT='"$(COMMIT)"'
$(G)/commit: FORCE
	@mkdir -p $(@D)
	@echo '$(COMMIT)' | cmp -s - $@ || echo '$(COMMIT)' >$@
# the built-in rules' folders are what bwrap shows
$(addprefix $(O)/c/client/,bare.o selftest_tree.o): $(G)/rules-default.h
# and the paths: another PREFIX is another program
NAMING	:= $(addprefix client/,err.c ways.c doctor_helper.c bare.c cells.c doctor.c)
$(call obj,c,$(NAMING)) $(NAMING:%.c=$(F)/obj/%.o): $(G)/paths
$(G)/paths: FORCE
	@mkdir -p $(@D)
	@echo '$(PREFIX) $(LIBDIR) $(INSTALL_HINT)' | cmp -s - $@ || \
		echo '$(PREFIX) $(LIBDIR) $(INSTALL_HINT)' >$@
.PHONY: FORCE
FORCE:

# --- generated -------------------------------------------------------------

$(G)/filters-%.h: $(B)/filterc policy/roles.def
	@mkdir -p $(@D)
	$(call say,GEN )
	$(Q)$(B)/filterc $* >$@
# the machine's own, so that the helper needs no conditional
$(G)/filters.h: $(G)/filters-$(ARCH).h
	$(Q)cp $< $@
$(G)/rules-default.h: $(RULESC) policy/default.policy
	@mkdir -p $(@D)
	$(call say,GEN )
	$(Q)$(RULESC) builtin policy/default.policy >$@

# --- linking ---------------------------------------------------------------

$(B)/bailiff-helper: $(H_OBJS)
	$(call say,LINK)
	$(Q)$(HCC) $(HFLAGS) -static-pie $(LINK) -Wl,-Map=$@.map -o $@ $^ -lcap
$(B)/libbailiff.a: $(C_OBJS)
	@rm -f $@
	$(call say,AR  )
	$(Q)$(AR) rcsD $@ $^
$(B)/libbailiff.so: $(C_OBJS)
	$(call say,LINK)
	$(Q)$(CC) $(CFLAGS) $(filter-out -pie,$(LDFLAGS)) -shared \
		-Wl,-soname,libbailiff.so.0 -o $@ $^ $(LIBS)
$(B)/bailiff: $(M_OBJS) $(B)/libbailiff.a
	$(call say,LINK)
	$(Q)$(CC) $(CFLAGS) $(LDFLAGS) -o $@ $^ -l:libjansson.a -lmnl
$(B)/bailiff-rules: $(call obj,tool,policy/rulesc.c $(POLICY))
	$(call say,LINK)
	$(Q)$(HCC) $(PLAIN) -pie $(LINK) -o $@ $^
$(B)/bailiff-audit: $(call obj,tool,client/audit.c policy/reply.c)
	$(call say,LINK)
	$(Q)$(HCC) $(PLAIN) -pie $(LINK) -o $@ $^
$(B)/native-rules: $(call obj,native,policy/rulesc.c $(POLICY))
	$(call say,LINK)
	$(Q)gcc -pie $(LINK) -o $@ $^
$(B)/filterc: $(call obj,$(NATIVE),policy/filterc.c)
	$(call say,LINK)
	$(Q)gcc -pie $(LINK) -o $@ $^ -lseccomp
# static: it runs where the image may have no libc, or another
$(B)/answer.bin: $(call obj,tool,client/answer.c policy/proto.c policy/reply.c)
	$(call say,LINK)
	$(Q)$(HCC) $(PLAIN) -static-pie $(LINK) -s -o $@ $^
$(B)/probe.bin: $(call obj,tool,$(PROBE))
	$(call say,LINK)
	$(Q)$(HCC) $(PLAIN) -static-pie $(LINK) -s -o $@ $^

# the helper's loop and spawns, for cells that no helper makes; what differs
# there is caught by name
WRAPS	:= setgroups getgroups setresuid setresgid getresuid getresgid syscall \
	kill wait4 open mkdir chdir bind execve statvfs _exit
$(O)/tool/client/cellinit.o: $(GEN)
$(B)/cellinit.bin: $(call obj,tool,client/cellinit.c) $(call obj,h,\
		$(addprefix helper/,loop.c spawn.c spec.c start.c steps.c wire.c) \
		policy/proto.c policy/spec.c)
	$(call say,LINK)
	$(Q)$(HCC) $(PLAIN) -static-pie $(LINK) -s $(addprefix \
		-Wl$(comma)--wrap=,$(WRAPS)) -o $@ $^

$(addprefix $(B)/,$(SIDE)): $(B)/%: $(O)/t/selftest/%.o $(B)/libbailiff.a
	$(call say,LINK)
	$(Q)$(CC) $(TFLAGS) $(LDFLAGS) -o $@ $^ $(LIBS)
own_words = $$(sed -n 's,^/\* link: \(.*\) \*/$$,\1,p' selftest/$*.c)
HTESTS	:= $(filter t-helper-%,$(TESTS))
$(addprefix $(B)/,$(HTESTS)): $(B)/%: $(O)/t/selftest/%.o $(TH_OBJS) \
		$(B)/libbailiff.a
	$(call say,LINK)
	$(Q)$(CC) $(TFLAGS) $(LDFLAGS) $(own_words) -o $@ $^ $(LIBS) -lcap
$(addprefix $(B)/,$(filter-out $(HTESTS),$(TESTS))): $(B)/%: \
		$(O)/t/selftest/%.o $(B)/libbailiff.a
	$(call say,LINK)
	$(Q)$(CC) $(TFLAGS) $(LDFLAGS) $(own_words) -o $@ $^ $(LIBS)

# --- what it needs ---------------------------------------------------------

DEPS_VM	:= qemu-system-x86 qemu-system-arm gcc-aarch64-linux-gnu debootstrap \
	cpio kmod xz-utils e2fsprogs
DEPS_MIN := gcc libc6-dev binutils make libseccomp-dev libcap-dev libmnl-dev \
	libjansson-dev libsystemd-dev python3
DEPS_DEB := $(DEPS_MIN) dpkg-dev debhelper fakeroot lintian
DEPS_ALL := perl git pkg-config util-linux acl procps iproute2 \
	strace bubblewrap uidmap clang libclang-rt-14-dev clang-tidy cppcheck \
	pmccabe nodejs golang-go default-jdk-headless \
	$(DEPS_DEB) man-db mandoc groff-base libcap2-bin systemd apparmor \
	zsh fish

# $(1): packages.  Nothing is asked of the network when all are there.
define need
@missing=; for p in $(1); do \
	dpkg-query -W -f '$${Status}\n' $$p 2>/dev/null | \
		grep -q 'ok installed' || missing="$$missing $$p"; \
done; \
[ -z "$$missing" ] && exit 0; \
as=; [ "$$(id -u)" = 0 ] || as=sudo; \
if ! command -v apt-get >/dev/null || \
    { [ -n "$$as" ] && ! $$as -n true 2>/dev/null; }; then \
	echo "make deps: missing, by their Debian names:$$missing" >&2; \
	echo "make deps: install them as root (make -o $@ GOAL goes on without)" >&2; \
	exit 1; \
fi; \
echo "make deps: installing$$missing"; \
export DEBIAN_FRONTEND=noninteractive; \
$$as apt-get -qq update && \
$$as env DEBIAN_FRONTEND=noninteractive apt-get -qq -y \
	--no-install-recommends install $$missing >/dev/null
endef

deps:
	$(call need,$(DEPS_ALL))
deps-min:
	$(call need,$(DEPS_MIN))
deps-deb:
	$(call need,$(DEPS_DEB))
# also what the VMs boot, which is made once: build/vm
deps-vm: deps
	$(call need,$(DEPS_VM))
	$(Q)selftest/vm/build

# --- running ---------------------------------------------------------------

export BUILD := $(B)
export FUZZ_BUILD := $(F)
ROOT_T	 := $(sort $(wildcard selftest/root/*.t))
VM_T	 := $(sort $(wildcard selftest/vm/*.t))
LINT_T	 := $(sort $(wildcard selftest/lint/*.t))
PROVE	 := prove -j$(JOBS) --timer --failures -e selftest/run-test

demo: deps-min $(B)/bailiff $(B)/bailiff-helper $(B)/bailiff-rules
	BUILD=$(B) examples/demo.sh

# One run of prove, so that its closing summary counts everything.  Root's
# tests are in it too: without root each says that it was skipped, and why.
# The VMs come first, for they take longest.
ROOT	 := $(filter 0,$(shell id -u))
VMS	 := $(if $(ROOT),deps-vm vm-packages vm-arm64)
check: deps all fuzzers $(VMS)
	VM=$(or $(VM),few) FUZZ_SECONDS=$(or $(FUZZ_CHECK_SECONDS),5) $(PROVE) \
		$(VM_T) $(addprefix $(B)/,$(TESTS)) \
		$(sort $(wildcard selftest/*.t selftest/cases/*.t)) \
		$(LINT_T) $(wildcard selftest/fuzz/*.t) $(ROOT_T)
check-root: deps all
	@[ "$$(id -u)" = 0 ] || { echo "make check-root: needs root" >&2; exit 1; }
	$(PROVE) $(ROOT_T)
lint: deps all
	$(PROVE) $(LINT_T)
# VM=all: see steps in selftest/vm/run.  Two kernels at once, whatever JOBS is: a
# VM has one processor.
check-vm: deps-vm all vm-packages vm-arm64
	prove -j2 --timer --failures -e selftest/run-test $(VM_T)

# --- fuzzing: clang's libFuzzer, one program per selftest/fuzz/NAME.c -------

FZFLAGS	:= -std=c11 -D_GNU_SOURCE -O1 -g -fno-omit-frame-pointer \
	-fno-strict-aliasing -fno-common -I$(G) \
	-fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=all
FZ_OBJS	:= $(patsubst %,$(F)/obj/%.o,$(basename \
	$(filter-out client/%.S $(COMMANDS),$(CLIENT)) $(POLICY)))
FZ_BLOB	:= $(patsubst %,$(F)/obj/%.o,$(basename $(wildcard client/*.S)))
FZ_HOBJS := $(patsubst %.c,$(F)/obj/%.o,$(filter-out helper/main.c,$(HELPER)))
HFUZZERS := $(filter helper-%,$(FUZZERS))

$(F)/obj/%.o: %.c $(GEN) | $(GATE)
	$(call compile,$(CLANG),$(FZFLAGS) $(DEFS) -DBL_COMMIT='"fuzz"')
$(FZ_BLOB): $(F)/obj/%.o: %.S $(BLOBS) | $(GATE)
	$(call compile,$(CLANG),-fPIC -Wa$(comma)-I$(B) -I$(B))
$(F)/libfuzzed.a: $(FZ_OBJS) $(FZ_BLOB)
	@rm -f $@
	$(call say,AR  )
	$(Q)$(AR) rcsD $@ $^
fuzz_words = $$(sed -n 's,^/\* link: \(.*\) \*/$$,\1,p' selftest/fuzz/$*.c)
$(addprefix $(F)/,$(filter-out $(HFUZZERS),$(FUZZERS))): $(F)/%: \
		$(F)/obj/selftest/fuzz/%.o $(F)/libfuzzed.a
	$(call say,LINK)
	$(Q)$(CLANG) $(FZFLAGS) -fsanitize=fuzzer $(fuzz_words) -o $@ $^ $(LIBS)
$(addprefix $(F)/,$(HFUZZERS)): $(F)/%: $(F)/obj/selftest/fuzz/%.o \
		$(FZ_HOBJS) $(F)/libfuzzed.a
	$(call say,LINK)
	$(Q)$(CLANG) $(FZFLAGS) -fsanitize=fuzzer $(fuzz_words) -o $@ $^ $(LIBS) -lcap
fuzzers: $(addprefix $(F)/,$(FUZZERS))
fuzz: deps fuzzers
	FUZZ_SECONDS=$(FUZZ_SECONDS) $(PROVE) $(wildcard selftest/fuzz/*.t)

# --- speed -----------------------------------------------------------------

BENCH	:= selftest/bench
build/bench/floor: $(BENCH)/floor.c | $(GATE)
	@mkdir -p $(@D)
	$(call say,LINK)
	$(Q)$(HCC) -std=c11 -O2 -Wall -Wextra -static -o $@ $<
build/bench/turns: $(BENCH)/turns.c | $(GATE)
	@mkdir -p $(@D)
	$(call say,LINK)
	$(Q)$(HCC) -std=c11 -O2 -Wall -Wextra -o $@ $<
bench: deps all build/bench/floor build/bench/turns
	$(BENCH)/run.sh 100
bench-quick: deps all build/bench/floor build/bench/turns
	$(BENCH)/run.sh 15

# --- coverage: make VARIANT=cov coverage ------------------------------------

coverage: deps all
	@[ $(VARIANT) = cov ] || { echo "make VARIANT=cov coverage" >&2; exit 1; }
	find $(B) -name '*.gcda' -delete
	-$(PROVE) $(addprefix $(B)/,$(TESTS)) \
		$(sort $(wildcard selftest/*.t selftest/cases/*.t)) $(ROOT_T)
	selftest/coverage.sh $(B)

# --- installing ------------------------------------------------------------

# What the files that name paths are made with.
define fill
@mkdir -p $(@D)
$(call say,GEN )
$(Q)sed -e 's,@PREFIX@,$(PREFIX),g' -e 's,@LIBDIR@,$(LIBDIR),g' \
	-e 's,@BINDIR@,$(PREFIX)/bin,g' -e 's,@VERSION@,$(RELEASE),g' \
	-e 's,@LIBEXECDIR@,$(PREFIX)/libexec,g' \
	-e 's,/usr/local/libexec,$(PREFIX)/libexec,g' $< >$@
endef
RELEASE	:= $(shell sed -n 's/^\#define BL_RELEASE "\(.*\)"/\1/p' client/main.c)
$(G)/bailiff.pc: client/bailiff.pc.in $(G)/paths
	$(fill)
$(G)/bailiff@.service: helper/bailiff@.service.in $(G)/paths
	$(fill)
$(G)/bailiff-audit.service: helper/bailiff-audit.service.in $(G)/paths
	$(fill)
$(G)/apparmor: helper/apparmor.in $(G)/paths
	$(fill)
$(G)/man/%: client/% $(G)/paths
	$(fill)
$(G)/man/%: helper/% $(G)/paths
	$(fill)
$(G)/man/%: policy/% $(G)/paths
	$(fill)
MAN	:= $(notdir $(wildcard client/*.1 helper/*.8 policy/*.5 policy/*.8))
TEXTS	:= $(addprefix $(G)/,bailiff.pc bailiff@.service bailiff-audit.service apparmor \
	$(addprefix man/,$(MAN)))
programs: $(TEXTS)

# MODE:FROM:TO of what install puts and uninstall takes away; the helper, the
# link to the library and what is in /etc have lines of their own below.
FILES	:= 0755:$(B)/bailiff:$(PREFIX)/bin/bailiff \
	0755:$(B)/bailiff-rules:$(PREFIX)/bin/bailiff-rules \
	0755:$(B)/bailiff-audit:$(PREFIX)/libexec/bailiff/bailiff-audit \
	0644:$(B)/libbailiff.a:$(LIBDIR)/libbailiff.a \
	0644:$(B)/libbailiff.so:$(LIBDIR)/libbailiff.so.0 \
	0644:client/bailiff.h:$(PREFIX)/include/bailiff.h \
	0644:$(G)/bailiff.pc:$(LIBDIR)/pkgconfig/bailiff.pc \
	0644:helper/bailiff.socket:$(UNITDIR)/bailiff.socket \
	0644:$(G)/bailiff@.service:$(UNITDIR)/bailiff@.service \
	0644:helper/bailiff-audit.socket:$(UNITDIR)/bailiff-audit.socket \
	0644:$(G)/bailiff-audit.service:$(UNITDIR)/bailiff-audit.service \
	0644:$(G)/apparmor:$(APPARMORDIR)/bailiff \
	0644:client/bailiff.bash:$(BASHDIR)/bailiff \
	0644:client/bailiff.zsh:$(ZSHDIR)/_bailiff \
	0644:client/bailiff.fish:$(FISHDIR)/bailiff.fish \
	$(foreach m,$(MAN),0644:$(G)/man/$m:$(MANDIR)/man$(subst .,,$(suffix \
		$m))/$m)
HELPER_TO := $(PREFIX)/libexec/bailiff/bailiff-helper
HELPER_CAPS := cap_setuid,cap_setgid,cap_kill,cap_sys_admin,cap_net_admin,$\
cap_mknod,cap_chown,cap_setpcap,cap_sys_resource,cap_sys_nice=ep
# DESTDIR as one word of the shell, whatever is in it
quote	:= '
TO	:= $(quote)$(subst $(quote),$(quote)\$(quote)$(quote),$(DESTDIR))$(quote)
# the rules are read from /etc alone
E	:= $(TO)/etc/bailiff

# With DESTDIR the helper's owner and rights are the package's business unless
# root is installing and the group is there.
install: $(addprefix $(B)/,bailiff bailiff-helper bailiff-rules bailiff-audit \
		libbailiff.a libbailiff.so) $(TEXTS)
	@[ $(VARIANT) = release ] || { echo "only a release build is installed" >&2; exit 1; }
	@case $(HELPER_MODE) in setuid|caps|none) ;; *) \
		echo "HELPER_MODE is setuid, caps or none" >&2; exit 1 ;; esac
	@[ -n $(TO) ] || [ "$$(id -u)" != 0 ] || getent group bailiff >/dev/null || \
		groupadd -r bailiff
	@set -e; for f in $(FILES); do \
		from=$${f#*:}; to=$${from#*:}; from=$${from%%:*}; \
		echo "  INSTALL $$to"; \
		install -D -m $${f%%:*} "$$from" $(TO)"$$to"; \
	done
	@ln -sf libbailiff.so.0 $(TO)$(LIBDIR)/libbailiff.so
	@[ -e $(E)/policy ] || [ -L $(E)/policy ] || \
		install -D -m 0644 policy/default.policy $(E)/policy
	@[ $(RULES) = no ] || \
		$(B)/bailiff-rules compile $(E)/policy -o $(E)/rules
	@set -e; to=$(TO)$(HELPER_TO); h=$$to.new; \
	trap 'rm -f "$$h"' EXIT; \
	echo "  INSTALL $(HELPER_TO)"; \
	install -D -m 0755 $(B)/bailiff-helper "$$h"; \
	if [ $(HELPER_MODE) = none ]; then :; \
	elif [ "$$(id -u)" = 0 ] && getent group bailiff >/dev/null; then \
		chown root:bailiff "$$h"; \
		if [ $(HELPER_MODE) = caps ]; then \
			chmod 0750 "$$h"; setcap $(HELPER_CAPS) "$$h"; \
			if "$$h" 2>/dev/null; then :; \
			elif [ $$? = 126 ]; then echo "  no program here can" \
				"have all of its capabilities: bailiff doctor" \
				"says which, and what to do"; fi; \
		else chmod 4750 "$$h"; fi; \
	else \
		echo "  $(HELPER_TO) has no rights yet:" \
			"that takes root and the group bailiff"; \
	fi; \
	mv -f "$$h" "$$to"	# at once: never is there none, or half of one
	@[ -n $(TO) ] || [ "$$(id -u)" != 0 ] || ldconfig 2>/dev/null || :
	@[ -n $(TO) ] || [ ! -e $(PACKAGED) ] || echo "  the package bailiff is" \
		"installed too, and shares /etc/bailiff: remove one of the two"

PACKAGED := /var/lib/dpkg/info/bailiff.list
AUDIT_WANTED := /etc/systemd/system/sockets.target.wants/bailiff-audit.socket
SOCKET_WANTED := /etc/systemd/system/sockets.target.wants/bailiff.socket
# What the administrator wrote stays, and the group, whose number may be in use.
# Folders: below DESTDIR all that are empty; else those that are bailiff's own.
uninstall:
	@set -e; there=no; [ ! -e $(TO)$(HELPER_TO) ] || there=yes; \
	for f in $(FILES) ::$(HELPER_TO) ::$(HELPER_TO).new \
	    ::$(LIBDIR)/libbailiff.so; do \
		rm -f $(TO)"$${f##*:}"; \
	done; \
	for h in /usr/local /usr; do \
		h=$$h/libexec/bailiff/bailiff-helper; \
		[ "$$h" = $(HELPER_TO) ] || [ ! -e "$$h" ] || there=no; \
	done; \
	if [ -z $(TO) ] && { [ $$there = no ] || [ -e $(PACKAGED) ]; }; then \
		[ ! -e $(E) ] || echo "  /etc/bailiff stays: it is another's," \
			"the package's or that of another PREFIX"; \
	else \
		rm -f $(E)/rules; \
		if cmp -s policy/default.policy $(E)/policy; then \
			rm -f $(E)/policy; \
		elif [ -e $(E)/policy ]; then \
			echo $(E)"/policy was changed, and stays"; \
		fi; \
	fi
	@if [ -n $(TO) ]; then \
		cd $(TO) && for f in $(FILES) ::$(HELPER_TO) \
		    ::/etc/bailiff/policy; do \
			d=$${f##*:/}; d=$${d%/*}; [ ! -d "$$d" ] || \
				rmdir -p --ignore-fail-on-non-empty "$$d"; \
		done; \
	else \
		for d in $(PREFIX)/libexec/bailiff $(PREFIX)/libexec \
		    $(APPARMORDIR) $(PREFIX)/share/bailiff $(E); do \
			rmdir "$$d" 2>/dev/null || :; \
		done; \
	fi
	@[ -n $(TO) ] || [ "$$(id -u)" != 0 ] || ldconfig 2>/dev/null || :
	@[ -n $(TO) ] || ! getent group bailiff >/dev/null || \
		echo "the group bailiff stays (groupdel bailiff)"
	@[ -n $(TO) ] || [ ! -L $(AUDIT_WANTED) -a ! -S /run/bailiff/audit ] || \
		echo "bailiff-audit.socket stays enabled or open, as root:" \
			"systemctl disable --now bailiff-audit.socket"
	@[ -n $(TO) ] || [ ! -L $(SOCKET_WANTED) -a ! -S /run/bailiff.sock ] || \
		echo "bailiff.socket stays enabled or open, as root:" \
			"systemctl disable --now bailiff.socket"

# Debian packages, built in a copy and by nobody's settings but debian/rules'.
# Those that the VMs install are others: another test builds its own meanwhile.
deb: deps-deb
	$(call packages,build/deb)
vm-packages: deps-deb
	@mkdir -p build/vm
	@echo '  DEB  build/vm/deb'
	$(Q){ $(call packages,build/vm/deb); } >build/vm/deb.log 2>&1 || \
		{ tail -n 20 build/vm/deb.log; exit 1; }
# arm64's, by this machine's compiler: what make install puts, and the package's
# own script.  Then as it is built by default, for the threat cases.
ARM64	:= $(MAKE) CROSS=aarch64-linux-gnu- SYSROOT=$(CURDIR)/build/vm/arm64
ARM64_DEB := build/vm/deb-arm64
vm-arm64: deps-vm
	@rm -rf $(ARM64_DEB) && mkdir -p $(ARM64_DEB)/tree/DEBIAN
	$(Q)$(ARM64) install DESTDIR=$(CURDIR)/$(ARM64_DEB)/tree PREFIX=/usr \
		LIBDIR=/usr/lib/aarch64-linux-gnu UNITDIR=/lib/systemd/system \
		HELPER_MODE=none RULES=no >$(ARM64_DEB)/log 2>&1 || \
		{ tail -n 20 $(ARM64_DEB)/log; exit 1; }
	@install -m 755 debian/bailiff.postinst $(ARM64_DEB)/tree/DEBIAN/postinst
	@printf '%s\n' 'Package: bailiff' 'Version: $(RELEASE)' \
		'Architecture: arm64' 'Maintainer: nobody' 'Description: bailiff' \
		>$(ARM64_DEB)/tree/DEBIAN/control
	$(Q)dpkg-deb --root-owner-group -b $(ARM64_DEB)/tree \
		$(ARM64_DEB)/bailiff.deb >/dev/null
	$(Q)$(ARM64) programs build/aarch64-linux-gnu-release/t-filter
define packages
rm -rf $(1) && mkdir -p $(1)/bailiff && \
tar -c --exclude=./build --exclude=./.git . | tar -x -C $(1)/bailiff && \
echo '$(COMMIT)' >$(1)/bailiff/.commit && \
(cd $(1)/bailiff && env -u MAKEFLAGS -u MFLAGS -u MAKELEVEL \
	-u MAKEOVERRIDES -u DESTDIR -u PREFIX -u VARIANT \
	dpkg-buildpackage -us -uc -b -j$(JOBS))
endef

# The same commit gives the same bytes: sorted by git, the commit's own time.
dist:
	@mkdir -p build
	git archive --format=tar --prefix=bailiff-$(COMMIT)/ \
		--add-virtual-file=bailiff-$(COMMIT)/.commit:$(COMMIT) HEAD | \
		gzip -n9 >build/bailiff-$(COMMIT).tar.gz
	cd build && sha256sum bailiff-$(COMMIT).tar.gz | \
		tee bailiff-$(COMMIT).tar.gz.sha256

clean:
	rm -rf build

-include $(shell find build \( -path build/deb -o -path build/vm \) -prune -o \
	-name '*.d' -print 2>/dev/null)
