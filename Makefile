# gnngp: graph neural network Gaussian processes in PostgreSQL
#
#   make                    builds the server's part (needs the server's headers)
#   make cuda               builds the GPU library (needs CUDA's nvcc)
#   make install            installs what is built into the server of PG_CONFIG
#   make check              builds, then runs the checks that need no server
#   make unit T=links/test_folds   runs one unit test (without T all; SANITIZE=no is faster)
#   make installcheck       runs the SQL tests against the running server
#   make prove_installcheck runs the TAP tests, which start servers of their own
#   make dist               writes gnngp-VERSION.zip (for PGXN) and .tar.gz (for rpmbuild) of the commit
#   make release-check      says whether all packages name one version, and the changelog has it
#   make extension-image DEST=...   writes /lib and /share of an extension image, OpenBLAS included
#
#   PG_CONFIG=...   which server to build for
#   CUDA=yes        make builds the GPU library, too
#   NVCC=... CUDA_HOME=...   which CUDA to use

# These two know no server, and PGXS has a rule for "check" that only prints a message.
# The unit tests of "check" link the objects of the extension, those of "unit" have sanitizers.
ifneq ($(filter check unit,$(MAKECMDGOALS)),)
JOBS = $(if $(filter -j% --jobserver%,$(MAKEFLAGS)),,-j $(shell nproc))

check:
	$(MAKE) $(JOBS) all
	bash test/rules.sh
	$(MAKE) $(JOBS) -s --output-sync -f test/unit/Makefile SANITIZE=no CORE_AT=. run fuzz
unit:
	$(MAKE) $(JOBS) -s --output-sync -f test/unit/Makefile $(if $(T),T="$(T)") run

.PHONY: check unit
else

EXTENSION = gnngp
EXTVERSION = 1.0.0
MODULE_big = gnngp

CORE_OBJS = $(patsubst %.c,%.o,$(sort $(wildcard src/core/*/*.c src/core/*/*/*.c)))
PG_OBJS = $(patsubst %.c,%.o,$(sort $(wildcard src/pg/*/*.c src/pg/*/*/*.c)))
OBJS = $(PG_OBJS) $(CORE_OBJS)

# The installation script is put together from these parts, in this order.
SQL_PARTS = $(addprefix sql/parts/,head.sql role_type.sql catalog.sql kernel_type.sql value_types.sql \
	graph.sql task.sql predict.sql model.sql nodes.sql live.sql links.sql device.sql report.sql aggregates.sql matrix.sql views.sql)
SQL_SCRIPT = sql/$(EXTENSION)--$(EXTVERSION).sql

# The scripts of updates, one from each release to the next, are files of their own.
DATA_built = $(SQL_SCRIPT)
DATA = $(wildcard sql/update/$(EXTENSION)--*.sql)

# Examples to run in psql: \i of the path that make install prints.
DOCS = $(wildcard doc/examples/*.sql)

# The library holds its version against that of the SQL objects.
# The core's assertions hold where the server's do: in a server built with them.
BUILT_WITH = $(shell $(PG_CONFIG) --configure)
ASSERTIONS = $(findstring --enable-cassert,$(BUILT_WITH))$(findstring cassert=true,$(BUILT_WITH))
PG_CPPFLAGS = $(if $(ASSERTIONS),,-DNDEBUG) -Isrc -Isrc/core -DGNNGP_VERSION='"$(EXTVERSION)"'
PG_CFLAGS += -Wall -Wextra -Wno-unused-parameter -Wno-declaration-after-statement
# What is built does not tell where.
PG_CFLAGS += -ffile-prefix-map=$(CURDIR)=.
# OpenBLAS may lie beside the library: an extension image brings its own.
SHLIB_LINK = -ldl -lpthread -lm -Wl,--disable-new-dtags,-rpath,'$$ORIGIN'

# Tests are in test/sql, what they should print in expected.
REGRESS = $(sort $(patsubst test/sql/%.sql,%,$(wildcard test/sql/*.sql)))
REGRESS_OPTS = --inputdir=test --load-extension=$(EXTENSION)
PROVE_TESTS = $(sort $(wildcard test/t/*.pl))
TAP_OUTPUT = $(CURDIR)

EXTRA_CLEAN = $(DATA_built) $(OBJS:.o=.d)

# Bitcode is for inlining small functions into queries; ours are large.
override with_llvm = no

PG_CONFIG ?= pg_config
PGXS := $(shell $(PG_CONFIG) --pgxs)
include $(PGXS)

# The core's names are nobody else's business, and a stack may be short of room for it.
$(CORE_OBJS): override CFLAGS += -fvisibility=hidden -Wframe-larger-than=4096

# A fused product and sum would change the bits of random walks, which are the same on every machine.
src/core/graph/random_walks.o: override CFLAGS += -ffp-contract=off

# Loops over single elements, which are nothing but loops.
src/core/device/cpu/cpu_elementwise.o: override CFLAGS += -O3 -fno-math-errno -fno-trapping-math

# The compiler notes which headers each object includes.  The version stands in the Makefile.
$(OBJS): override CFLAGS += -MMD -MP
$(OBJS): Makefile
-include $(OBJS:.o=.d)

$(SQL_SCRIPT): $(SQL_PARTS)
	cat $(SQL_PARTS) > $@

# TAP tests start servers, which no server does as root; and write to TAP_OUTPUT/tmp_check.
prove_installcheck:
	rm -rf '$(TAP_OUTPUT)/tmp_check'
	TESTDIR='$(TAP_OUTPUT)' TESTDATADIR='$(TAP_OUTPUT)/tmp_check' TESTLOGDIR='$(TAP_OUTPUT)/tmp_check/log' \
	PATH="$(shell $(PG_CONFIG) --bindir):$$PATH" \
	PG_REGRESS='$(dir $(PGXS))../../src/test/regress/pg_regress' \
	prove -I '$(dir $(PGXS))../../src/test/perl' -I test/perl $(PROVE_FLAGS) $(PROVE_TESTS)

.PHONY: prove_installcheck

# An archive of the commit, as PGXN takes it and as rpmbuild reads it, in the folder DIST.
DIST = .
dist:
	for form in zip tar.gz; do git archive --format=$$form --prefix=$(EXTENSION)-$(EXTVERSION)/ \
		-o '$(DIST)/$(EXTENSION)-$(EXTVERSION)'.$$form HEAD || exit; done

release-check:
	@perl test/metadata.pl | { ! grep . ; }
	@grep -q '^## $(EXTVERSION)' CHANGELOG.md || { echo 'CHANGELOG.md: no $(EXTVERSION)'; exit 1; }

# What an extension image holds: the extension's files, OpenBLAS and what it needs beside libc.
OPENBLAS = $(shell ldconfig -p | sed -n 's/.*libopenblas\.so\.0 .*=> //p' | head -n 1)
extension-image: all
	install -d '$(DEST)/lib' '$(DEST)/share/extension'
	install -m 755 $(MODULE_big).so '$(DEST)/lib'
	install -m 644 $(EXTENSION).control $(SQL_SCRIPT) $(DATA) '$(DEST)/share/extension'
	ldd '$(OPENBLAS)' | awk '/lib(gfortran|quadmath)/ {print $$3}' | xargs -I{} cp -L {} '$(OPENBLAS)' '$(DEST)/lib'

.PHONY: dist release-check extension-image

# The GPU library is a module of its own, which the extension loads when asked to.
CUDA ?= no
ifeq ($(filter yes no,$(CUDA)),)
$(error CUDA is yes or no, not "$(CUDA)")
endif
include cuda/Makefile.inc

endif
