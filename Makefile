# SPDX-License-Identifier: GPL-2.0-or-later
#
# make [all]             build/lund and build/lunadm
# make demo              show it working (installs missing packages as root)
# make check             unit tests, then functional tests on both engines
# make check-all         check, lint and the whole conformance matrix
# make check-conformance the libiscsi suite, test by test
# make bench             measure it beside the machine's limit; QUICK=1: shorter
# make fuzz T=SECONDS    each entry of tests/fuzz for so long, by clang
# make bench-instructions instructions of some commands against a record
# make lint install uninstall install-tgt-compat clean
#
# O=DIR where to build, SAN=address,undefined or SAN=thread, COV=1, WERROR=1,
# V=1 to see the commands, T=TEXT: only the tests with TEXT in their names.
# CC, CFLAGS, LDFLAGS, LDLIBS are yours.

O	?= build
CFLAGS	?= -O2 -g
JOBS	?= $(shell nproc)
prefix	?= /usr
sysconfdir ?= $(if $(filter /usr,$(prefix)),/etc,$(prefix)/etc)
unitdir	?= $(prefix)/lib/systemd/system

have_systemd := $(wildcard /usr/include/systemd/sd-daemon.h)
WITH_SYSTEMD ?= $(if $(have_systemd),1,0)

warn	= -Wall -Wextra -Wshadow -Wmissing-prototypes -Wstrict-prototypes \
	  -Wvla -Wundef $(WERROR:1=-Werror)
san	= $(if $(SAN),-fsanitize=$(SAN) -fno-sanitize-recover=undefined \
	  -fno-omit-frame-pointer)
cov	= $(COV:1=--coverage)
cflags	= -std=gnu11 -D_GNU_SOURCE -I. -pthread $(warn) $(san) $(cov) \
	  $(if $(filter 1,$(WITH_SYSTEMD)),-DWITH_SYSTEMD)
banned	= -include lib/banned.h
ldlibs	= -luring -laio -ljansson -lcrypto -lisal -lsmartcols \
	  $(if $(filter 1,$(WITH_SYSTEMD)),-lsystemd) -lpthread $(LDLIBS)
# libiscsi, check and what check needs, for tests alone
testlibs = -liscsi -lcheck_pic -lsubunit -lrt -lm
link	= $(CC) $(cflags) $(CFLAGS) $(LDFLAGS) -Wl,--as-needed -o $@
say	= $(if $V,,@printf '  %-4s%s\n' $1 $@;)

layers	= lib backend scsi target cli
mains	= target/main.c cli/main.c
progs	= $(if $(wildcard target/main.c),$O/lund) \
	  $(if $(wildcard cli/main.c),$O/lunadm)
has_t	= $(if $T,$(findstring $T,$(notdir $1)),all)
some	= $(foreach t,$(wildcard $1),$(if $(call has_t,$t),$t))
units	:= $(patsubst %.c,$O/%,$(call some,tests/unit/test_*.c))
funcs	:= $(patsubst %.c,$O/%,$(call some,tests/func/*.c))
scripts	:= $(call some,tests/func/*.sh)
fakes	= $(wildcard tests/lib/fake_*.c)
helpers	= $(filter-out $(fakes),$(wildcard tests/lib/*.c))
headers	= $(wildcard $(addsuffix /*.h,$(layers) tests/lib))

all: $(progs)

# Objects are rebuilt when the flags change.
$O/flags: FORCE
	@mkdir -p $(@D)
	@echo '$(CC) $(cflags) $(CFLAGS) $(LDFLAGS)' | cmp -s - $@ || \
		echo '$(CC) $(cflags) $(CFLAGS) $(LDFLAGS)' > $@

$O/tests/%.o: tests/%.c $O/flags
	@mkdir -p $(@D)
	$(call say,CC)$(CC) $(cflags) -MMD -MP $(CFLAGS) -c -o $@ $<

$O/%.o: %.c $O/flags
	@mkdir -p $(@D)
	$(call say,CC)$(CC) $(cflags) $(banned) -MMD -MP $(CFLAGS) -c -o $@ $<

%.a:
	@rm -f $@
	$(call say,AR)$(AR) rcs $@ $^

define layer
$O/lib$1.a: $(patsubst %.c,$O/%.o,$(filter-out $(mains),$(wildcard $1/*.c)))
endef
$(foreach l,$(layers),$(eval $(call layer,$l)))
$O/libfake.a: $(fakes:%.c=$O/%.o)
$O/libtest.a: $(helpers:%.c=$O/%.o)

# What a program may call: its own layer and those below.
below_lib	= lib
below_backend	= backend lib
below_scsi	= scsi fake lib
below_target	= target scsi backend lib
below_cli	= cli lib
libs_of		= $(patsubst %,$O/lib%.a,$(below_$1))

$O/lund: $O/target/main.o $(call libs_of,target)
	$(call say,LD)$(link) $^ $(ldlibs)
$O/lunadm: $O/cli/main.o $(call libs_of,cli)
	$(call say,LD)$(link) $^ $(ldlibs)

# tests/unit/test_LAYER_WHAT.c; scsi's have a fake in place of the backend.
layer_of = $(word 2,$(subst _, ,$(notdir $1)))
define unit
$1: $1.o $(call libs_of,$(call layer_of,$1)) $O/libtest.a
	$$(call say,LD)$$(link) $$< -Wl,--start-group $$(filter %.a,$$^) \
		-Wl,--end-group $$(testlibs) $$(ldlibs)
endef
$(foreach u,$(units),$(eval $(call unit,$u)))

$(funcs): %: %.o $O/libtest.a $O/liblib.a
	$(call say,LD)$(link) $^ $(testlibs) $(ldlibs)

$O/tests/demo/demo: $O/tests/demo/demo.o
	$(call say,LD)$(link) $^ -liscsi

# make bench: the load generator, the floor, the bare system calls
bench_of = $(patsubst %,$O/tests/bench/%.o,$1)
$O/tests/bench/load: $(call bench_of,load run work logins login lean lean_iscsi \
		lean_floor libiscsi cdb proc) $O/liblib.a
	$(call say,LD)$(link) $^ -liscsi -lisal -lpthread
$O/tests/bench/floor: $(call bench_of,floor floor_epoll floor_uring)
	$(call say,LD)$(link) $^ -luring
$O/tests/bench/bare: $(call bench_of,bare proc)
	$(call say,LD)$(link) $^ -luring
$O/tests/bench/instructions: $(call bench_of,instructions) $(call libs_of,scsi) \
		$O/libtest.a
	$(call say,LD)$(link) $< -Wl,--start-group $(filter %.a,$^) \
		-Wl,--end-group $(testlibs) $(ldlibs)
benches	= $(addprefix $O/tests/bench/,load floor bare)

# make fuzz: built by a make of its own, with clang's instruments everywhere
fuzzers	:= $(patsubst %.c,$O/%,$(wildcard tests/fuzz/fuzz_*.c))
$O/tests/fuzz/fuzz_cdb: $(call libs_of,scsi)
$(filter-out %/fuzz_cdb,$(fuzzers)): $(call libs_of,target)
$(fuzzers): %: %.o $O/libtest.a
	$(call say,LD)$(link) -fsanitize=fuzzer $< -Wl,--start-group \
		$(filter %.a,$^) -Wl,--end-group $(testlibs) $(ldlibs)

tests: $(progs) $(units) $(funcs)

programs = LUND='$(abspath $O)/lund' LUNADM='$(abspath $O)/lunadm'

# Packages first: what is found at the start of make may change by it.
packages-%:
	@tests/install-packages $(subst -, ,$*)

demo: packages-build-demo
	@+$(MAKE) --no-print-directory all $O/tests/demo/demo
	@O='$(abspath $O)' $(programs) tests/demo/run

check: packages-build-demo-test
	@+$(MAKE) --no-print-directory tests
	@O='$O' JOBS='$(JOBS)' $(LIMIT:%=LIMIT=%) tests/run $(units) \
		--engines "$${ENGINES-io_uring aio}" $(funcs) $(scripts)

check-conformance: packages-build-demo-test
	@+$(MAKE) --no-print-directory all
	@O='$(abspath $O)' $(programs) tests/conformance/run $(ARGS)

check-all: check lint
	@+$(MAKE) --no-print-directory check-conformance ARGS=--all

fuzzers: $(fuzzers)

fuzz: packages-build-demo-test
	@+$(MAKE) --no-print-directory O='$O/fuzz' CC=clang T= \
		SAN=fuzzer-no-link,address,undefined fuzzers
	@O='$(abspath $O)/fuzz' JOBS='$(JOBS)' tests/fuzz/run \
		'$(or $T,60)' $(fuzzers:$O/%=$(abspath $O)/fuzz/%)

bench: packages-build-demo-test
	@+$(MAKE) --no-print-directory all $(benches)
	@O='$(abspath $O)' $(programs) tests/bench/run $(ARGS)

bench-instructions: packages-build-test-bench
	@+$(MAKE) --no-print-directory $O/tests/bench/instructions
	@tests/bench/check-instructions $O/tests/bench/instructions

lint:
	@CC='$(CC)' CFLAGS='$(cflags)' tests/lint $(headers)

man	= $(wildcard doc/*.5 doc/*.8)
dest	= $(DESTDIR)$(prefix)
completions = $(dest)/share/bash-completion/completions

# $(call put,MODE,SOURCE,PLACE): installs what exists
put	= $(if $(wildcard $2),install -D -m $1 $2 $3)
# the same with the programs' place in it
placed	= $(put) && sed -i 's|=/usr/sbin/|=$(prefix)/sbin/|' $3

install: all
	$(call put,755,$O/lund,$(dest)/sbin/lund)
	$(call put,755,$O/lunadm,$(dest)/sbin/lunadm)
	$(foreach m,$(man),install -D -m 644 $m \
		$(dest)/share/man/man$(subst .,,$(suffix $m))/$(notdir $m);)
	$(call placed,644,etc/lund.service,$(DESTDIR)$(unitdir)/lund.service)
	$(call placed,755,etc/lund.init,$(DESTDIR)$(sysconfdir)/init.d/lund)
	$(call put,644,etc/lund.json.example,$(dest)/share/doc/lund/lund.json.example)
	$(call put,644,doc/esxi.md,$(dest)/share/doc/lund/esxi.md)
	$(call put,644,etc/lunadm.bash-completion,$(completions)/lunadm)
	ln -sf lunadm $(completions)/lund

install-tgt-compat: install
	install -d $(dest)/sbin
	ln -sf lunadm $(dest)/sbin/tgtadm

# Configuration and state are the administrator's and stay.
uninstall:
	rm -f $(dest)/sbin/lund $(dest)/sbin/lunadm $(completions)/lunadm \
		$(completions)/lund $(foreach m,$(man),$(dest)/share/man/man$(subst .,,$(suffix \
		$m))/$(notdir $m)) $(DESTDIR)$(unitdir)/lund.service \
		$(DESTDIR)$(sysconfdir)/init.d/lund
	rm -rf $(dest)/share/doc/lund
	if [ "$$(readlink $(dest)/sbin/tgtadm)" = lunadm ]; then \
		rm $(dest)/sbin/tgtadm; fi

clean:
	rm -rf $O

FORCE:
.PHONY: all tests demo check check-all check-conformance fuzz fuzzers bench \
	bench-instructions lint install install-tgt-compat uninstall clean FORCE
.SECONDARY:
.DELETE_ON_ERROR:

-include $(shell find $O -name '*.d' 2>/dev/null)
