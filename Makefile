# SPDX-License-Identifier: GPL-2.0
#
# make			build the module for the running kernel, or for KDIR
# make modules_install	install it for that kernel
# make tools		build the command, tools/dcqcn/dcqcn
# make install		install the module and the tools
# make uninstall	remove what that installs
# make dist		the sources as a tarball, in out/: always the same bytes
# make sbom		a bill of materials of that tarball, in SPDX, in out/
# make srpm		a source RPM of that tarball, in out/
# make deb		Debian packages of modules and tools, from that tarball, in out/
# make html		the documentation as web pages, in out/html
# make figures		which commit each figure of the documentation is of, and whether its
#			code has changed since
# make linkcheck	whether the documentation's links to other sites work
# make abi		list the names that must stay, at a release:
#			Documentation/ABI/released
# make page		the threshold model as one web page, out/page/dcqcn-model.html
# make try		soft-RoCE on this machine alone, as it is and with the module (needs root)
# make lab		the VM lab: stock soft-RoCE against rdma_dcqcn
# make sim		all scenarios of the simulator (half a day)
# make bench		measure instructions per packet and the precision of pacing
# make fuzz		any packet, in user space: RUNS=10000000 SEED=1
# make mutants		put small faults into the code, and see that tests find them
# make hostile		floods and storms, in simulated time: SEED=1
# make integrity	each byte through a bad network, simulated: SEED=1
# make stamps		a million packets through switches that stamp them: SEED=1
# make devices		rxe on every kind of network device, changed in any order:
#			SECONDS=60 SEED=1
# make foreign		other traffic, while ports are added and removed: SECONDS=60 SEED=1
# make torture		add and remove everything at random, on a debug kernel:
#			SECONDS=600 SEED=1, CPUS=2 on an emulated PC with two CPUs
# make coverage		lines of the module that torture and foreign reach: SECONDS=600
# make check-quick	run after each edit: three minutes
# make check		all tests in short: a quarter of an hour
# make check-full	all tests, scenarios, kernels and packages in full:
#			KERNELS="6.12 7.2" to choose kernels, RESUME=1 to go on with a run
#			that was interrupted
# selftests/run NAME...	only these parts or tests; --list lists them
# make clean

KDIR ?= /lib/modules/$(shell uname -r)/build

# DKMS checks the same options, in dkms.conf
NEEDS := CONFIG_RDMA_RXE CONFIG_NETFILTER CONFIG_IPV6

.PHONY: all modules modules_install install uninstall tools dist sbom srpm deb html abi figures linkcheck \
	page lab sim fuzz mutants hostile integrity stamps devices foreign torture coverage bench check \
	check-quick check-full clean help

# Kbuild cannot build in such a place
ifneq ($(words $(CURDIR)),1)
$(error the path of this directory, "$(CURDIR)", must not contain blanks)
endif

all: modules

modules:
	@[ -d "$(KDIR)" ] || { echo "no kernel headers in $(KDIR):" \
		"install linux-headers-$$(uname -r), or give KDIR" >&2; exit 1; }
	@for c in $(NEEDS); do \
		[ ! -e $(KDIR)/include/config/auto.conf ] || \
		grep -q "^$$c=" $(KDIR)/include/config/auto.conf || { \
			echo "the kernel of $(KDIR) has no $$c, which rdma_dcqcn needs" >&2; exit 1; }; \
	done
	$(MAKE) -C $(KDIR) M=$(CURDIR) W=1 modules

modules_install: modules
	$(MAKE) -C $(KDIR) M=$(CURDIR) modules_install
	depmod $(if $(INSTALL_MOD_PATH),-b $(INSTALL_MOD_PATH)) \
		$$(cat $(KDIR)/include/config/kernel.release)

install: modules_install
	$(MAKE) -C tools install

# DKMS looks after its own modules
uninstall:
	@[ -d "$(KDIR)" ] || { echo "no kernel headers in $(KDIR)" >&2; exit 1; }
	release=$$(cat $(KDIR)/include/config/kernel.release) && \
	find $(INSTALL_MOD_PATH)/lib/modules/$$release -path '*/updates/dkms' -prune -o \
		\( -name 'rdma_dcqcn.ko*' -o -name 'dcbport.ko*' \) -exec $(RM) {} + && \
	depmod $(if $(INSTALL_MOD_PATH),-b $(INSTALL_MOD_PATH)) $$release
	$(MAKE) -C tools uninstall

tools:
	$(MAKE) -C tools

VERSION := $(shell sed -n 's/^\#define RDMA_DCQCN_VERSION[[:blank:]]*"\(.*\)"/\1/p' \
	include/rdma_dcqcn_version.h)
DIST := rdma_dcqcn-$(VERSION)

# What git tracks, as it is now; without git, what nothing has built. Times are the
# changelog's, so the same files always give the same bytes.
dist:
	@selftests/tools/version.sh
	@mkdir -p out
	@if [ -e .git ]; then git ls-files; else \
		find * \( -path out -o -path tools/dcqcn/model -o -name build -o \
			-name __pycache__ \) -prune -o \
			\( -type f -o -type l \) ! -name '*.[oda]' ! -name '*.ko' \
			! -name '*.mod' ! -name '*.mod.c' ! -name '*.cmd' ! -name '.*.swp' \
			! -name Module.symvers ! -name modules.order \
			! -path tools/dcqcn/dcqcn -print; \
		find .[a-z]* -path .git -prune -o -type f ! -name '*.cmd' \
			! -name '.checkpatch*' -print; fi >out/sources
	@LC_ALL=C sort -o out/sources out/sources
	@tar -c -T out/sources -f out/$(DIST).tar --format=gnu --owner=0 --group=0 \
		--numeric-owner --mode=u+rwX,go+rX,go-w \
		--transform='flags=r;s,^,$(DIST)/,' \
		--mtime="$$(sed -n 's/^ -- .*>  //p' debian/changelog | head -n 1)"
	@gzip -9nf out/$(DIST).tar
	@$(RM) out/sources
	@echo out/$(DIST).tar.gz

sbom: dist
	@tools/sbom out/$(DIST).tar.gz >out/$(DIST).spdx.json
	@echo out/$(DIST).spdx.json

# Times are the changelog's and the host has no name, so these are always the same bytes, too
srpm: dist
	@tools/lab/deps rpm
	@$(RM) -r out/rpm && mkdir out/rpm && install -m 644 out/$(DIST).tar.gz rpm/rdma-dcqcn.spec out/rpm
	@at=$$(sed -n 's/^ -- .*>  //p' debian/changelog | head -n 1) && touch -d "$$at" out/rpm/* && \
		SOURCE_DATE_EPOCH=$$(date -d "$$at" +%s) rpmbuild -bs --quiet \
		--define "_topdir $(CURDIR)/out/rpm" --define "_sourcedir $(CURDIR)/out/rpm" \
		--define "_srcrpmdir $(CURDIR)/out" --define "_buildhost localhost" \
		--define "use_source_date_epoch_as_buildtime 1" out/rpm/rdma-dcqcn.spec
	@$(RM) -r out/rpm
	@echo out/rdma-dcqcn-$(VERSION)-1.src.rpm

# lintian's spelling check takes a number before a string for a part of it: "Aready"
deb: dist
	tools/lab/deps build-essential clang debhelper dh-dkms lintian lld llvm
	$(RM) -r out/deb out/*.deb
	mkdir -p out/deb
	tar -xf out/$(DIST).tar.gz -C out/deb
	cd out/deb/$(DIST) && dpkg-buildpackage -b -us -uc
	cd out/deb && lintian --fail-on error,warning,info --display-info \
		--suppress-tags spelling-error-in-binary *.changes
	mv out/deb/*.deb out/
	$(RM) -r out/deb

# -E -a: external-links.txt is complete only if every page is read
html:
	tools/lab/deps python3-sphinx
	PYTHONDONTWRITEBYTECODE=1 sphinx-build -q -E -a -n -W --keep-going -b html \
		-d out/doctrees Documentation out/html

abi:
	tools/lab/deps
	$(MAKE) tools
	@mkdir -p out
	selftests/tools/interfaces.py --list >out/released
	mv out/released Documentation/ABI/released

figures:
	@selftests/figures

linkcheck: html
	selftests/linkcheck out/html/external-links.txt

page:
	tools/lab/deps lld-14 llvm-14
	$(MAKE) -C tools/page O=$(CURDIR)/out/page

# First what is missing, all of it: without soft-RoCE, headers are of no use
try:
	@python3 -B tools/try/try --needs
	$(MAKE) tools modules
	tools/dcqcn/dcqcn try

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

mutants:
	tools/lab/deps
	selftests/mutants/run

hostile integrity stamps:
	tools/lab/deps
	selftests/uml/$@ $(if $(SEED),--seed $(SEED))

devices foreign:
	tools/lab/deps
	selftests/uml/$@ $(if $(SECONDS),--seconds $(SECONDS)) $(if $(SEED),--seed $(SEED))

torture coverage:
	tools/lab/deps $(if $(CPUS),libelf-dev)
	selftests/uml/$@ $(if $(filter 2,$(CPUS)),--pc) $(if $(SECONDS),--seconds $(SECONDS)) $(if $(SEED),--seed $(SEED))

# KERNELS not set: selftests/run has a default
check check-quick check-full:
	@$(if $(KERNELS),KERNELS="$(KERNELS)") selftests/run $(patsubst check%,-%,$(filter-out check,$@)) \
		$(if $(RESUME),--resume)

bench:
	tools/lab/deps
	tools/bench/bench --check

clean:
	[ ! -d "$(KDIR)" ] || $(MAKE) -C $(KDIR) M=$(CURDIR) clean
	$(MAKE) -C selftests/unit clean
	$(MAKE) -C selftests/model clean
	$(MAKE) -C tools/dcqcn clean
	$(RM) -r out

help:
	@sed -n '/^# make/,/^$$/s/^# \{0,1\}//p' $(firstword $(MAKEFILE_LIST))
