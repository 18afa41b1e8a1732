# SPDX-License-Identifier: GPL-2.0
#
# make			build the module for the running kernel, or for KDIR
# make install		install it for that kernel
# make tools		build the command, tools/dcqcn/dcqcn
# make lab		the VM lab: stock soft-RoCE against rdma_dcqcn
# make sim		all scenarios of the simulator (an hour or so)
# make bench		what it costs, and how precisely it paces
# make fuzz		any packet, in user space: RUNS=10000000 SEED=1
# make hostile		floods and storms, in simulated time: SEED=1
# make integrity	each byte through a bad network, simulated: SEED=1
# make check		all tests, and the scenarios in short
# make check-full	all tests, and all scenarios in full
# make clean

KDIR ?= /lib/modules/$(shell uname -r)/build

.PHONY: all modules modules_install install tools lab sim fuzz hostile \
	integrity bench check check-full clean help

all: modules

modules:
	@[ -d $(KDIR) ] || { echo "no kernel headers in $(KDIR):" \
		"install linux-headers-$$(uname -r), or give KDIR" >&2; exit 1; }
	$(MAKE) -C $(KDIR) M=$(CURDIR) W=1 modules

modules_install install: modules
	$(MAKE) -C $(KDIR) M=$(CURDIR) modules_install
	depmod -a

tools:
	$(MAKE) -C tools/dcqcn

lab:
	tools/lab/deps
	$(MAKE) modules KDIR=$$(tools/lab/lab image --kdir)
	tools/lab/lab run incast --check --out out/lab

sim:
	tools/lab/deps
	tools/sim/sim run

fuzz:
	tools/lab/deps
	selftests/fuzz/run $(if $(RUNS),--runs $(RUNS)) $(if $(SEED),--seed $(SEED))

hostile integrity:
	tools/lab/deps
	selftests/uml/$@ $(if $(SEED),--seed $(SEED))

check:
	selftests/check

check-full:
	selftests/check full

bench:
	tools/lab/deps
	tools/bench/bench --check

clean:
	[ ! -d $(KDIR) ] || $(MAKE) -C $(KDIR) M=$(CURDIR) clean
	$(MAKE) -C selftests/unit clean
	$(MAKE) -C tools/dcqcn clean
	$(RM) -r out

help:
	@sed -n 's/^# \(make.*\)/\1/p' $(firstword $(MAKEFILE_LIST))
