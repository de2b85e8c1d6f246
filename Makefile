# The collection's commands; `make help` lists them. Everything slow to make (Python environments, the lab's
# programs) is kept in the cache, outside the checkout.

SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DEFAULT_GOAL := help
MAKEFLAGS += --no-print-directory

PYTHON ?= python3
LAB ?= lab
ARGS ?= tests/unit
export LAB
export PYTHON

# ansible-core reads these; a collections path of one's own would hide what is tested here.
export ANSIBLE_COLLECTIONS_PATH := $(CURDIR)/.build
export ANSIBLE_LOCALHOST_WARNING := False
# Without bytecode each of many processes compiles hundreds of the collection's files again.
unexport PYTHONDONTWRITEBYTECODE

# Paths of the Python environments; computed where they are used, then remembered.
venv_path = $(shell $(PYTHON) lab/python_environment.py path $(1) $(2))
CONTROL = $(eval CONTROL := $(call venv_path,control,requirements.txt))$(CONTROL)
DEV = $(eval DEV := $(call venv_path,dev,requirements-dev.txt))$(DEV)
BENCH = $(eval BENCH := $(call venv_path,bench,requirements-bench.txt))$(BENCH)
SERVICES = $(eval SERVICES := $(call venv_path,services,lab/requirements.txt))$(SERVICES)
AGENT = $(eval AGENT := $(call venv_path,agent,lab/agent_image/requirements.txt))$(AGENT)

PLAYBOOK = METAL3_SERVICES_PYTHON=$(SERVICES)/bin/python $(CONTROL)/bin/ansible-playbook
CLI = PYTHONPATH=$(CURDIR)/.build $(CONTROL)/bin/python lab/cli.py

GATES := ruff types shell changelog-lint sanity unit lint docs-lint docs-site build-check galaxy-importer
IN_DEV = PATH=$(DEV)/bin:$$PATH
IN_LAB = $(IN_DEV) METAL3_SERVICES_PYTHON=$(SERVICES)/bin/python METAL3_AGENT_PYTHON=$(AGENT)/bin/python

##@ Lab

.PHONY: lab lab-down lab-status lab-env
# A file or a folder; make test-metal has its own.
LAB_INVENTORY ?= inventory/lab
# The parts of the plane whose upgrade to another minor is confirmed.
CONFIRMED = $(if $(CONFIRM),-e metal3_confirm='$(CONFIRM)')
lab: lab-needs  ## bring up the management plane and the simulated servers (LAB=name: another one beside it)
	@$(PLAYBOOK) metal3.baremetal.lab -i $(LAB_INVENTORY) $(CONFIRMED)
	@printf 'The lab "%s" runs. To use it, type:  eval "$$(make -s lab-env%s)"; kubectl get bmh -A\n' '$(LAB)' '$(if $(filter-out lab,$(LAB)), LAB=$(LAB))'

lab-down: lab-needs  ## stop the lab and remove what it made
	@$(PLAYBOOK) metal3.baremetal.lab_down -i inventory/lab

lab-status: lab-needs  ## table of the lab's parts
	@$(CLI) status --lab '$(LAB)'

lab-env: lab-needs  ## export lines of the running lab, for the shell's eval
	@$(CLI) env --lab '$(LAB)'

# A lab of its own, so that it leaves the other as it is.
.PHONY: metal
metal: export LAB := $(if $(filter-out lab,$(LAB)),$(LAB),metal)
metal: export LAB_KIND := virtual
metal: export LAB_SERVERS := $(if $(CLUSTER),3,2)
metal: export LAB_CLUSTER := $(if $(CLUSTER),metal,none)
metal: lab-needs  ## virtual servers: real firmware, agent and kernel, by iPXE and by virtual media (CLUSTER=1: and a cluster)
	@$(PLAYBOOK) metal3.baremetal.metal -i inventory/lab/lab.yml -i inventory/metal $(CONFIRMED)
	@printf 'The lab "%s" runs. To remove it, type:  make lab-down LAB=%s\n' "$$LAB" "$$LAB"

##@ Gates: make test runs all

.PHONY: test test-fast
# The longest first, so that none of them is left alone at the end.
test: test-lab-needs  ## all gates: the tests on labs, which take longest, and the others after and beside them
	@$(IN_LAB) tests/gates/run test-hosts test-servers test-clusters unit $(filter-out unit,$(GATES))

test-fast: test-needs  ## all gates that need no lab
	@$(IN_DEV) tests/gates/run $(GATES)

.PHONY: $(GATES)
ruff:  ## Python code: ruff
types:  ## types of the plugins: mypy
shell:  ## shell scripts: shellcheck
unit:  ## pytest tests/unit
changelog-lint:  ## changelog fragments: antsibull-changelog
lint:  ## roles and playbooks: ansible-lint, profile production
docs-lint:  ## plugins' documentation: antsibull-docs
docs-site:  ## documentation site in build/docs/html: antsibull-docs and Sphinx
build-check:  ## build the collection, install it elsewhere, use it from there
galaxy-importer:  ## the built collection, by Galaxy's importer
sanity:  ## ansible-test sanity, without an ignore file
$(GATES): test-needs
	@$(IN_DEV) tests/gates/$@

.PHONY: test-hosts test-servers test-clusters molecule
test-hosts: test-lab-needs  ## tests/lab without the files of the next two, on a lab that is taken down afterwards
	@$(IN_LAB) tests/gates/test-hosts
test-servers: test-lab-needs  ## the files of BMCs, firmware, Ironic, faults and the lab itself, on such a lab
	@$(IN_LAB) tests/gates/test-servers
test-clusters: test-lab-needs  ## the files whose servers become nodes, then molecule without twelve of its scenarios, on such a lab
	@$(IN_LAB) tests/gates/test-clusters
molecule: test-lab-needs  ## all molecule scenarios, on such a lab
	@$(IN_LAB) tests/gates/test-molecule

##@ Longer tests, which make test does not run, each on a lab of its own that is taken down afterwards

.PHONY: test-awx test-air-gap test-claims test-guides test-long test-ha test-metal test-metal-pivot test-plane test-plane-upgrade test-pivot test-lifecycle test-metalstack test-scale
test-claims: test-lab-needs  ## each option of hosts and clusters on machines that boot
	@$(IN_LAB) TEST_LAB=claims-hosts tests/gates/test-lab host-claims
	@$(IN_LAB) TEST_LAB=claims-clusters LAB_BMC_SCHEME=redfish tests/gates/test-lab cluster-claims
test-guides: test-lab-needs  ## all commands of the guides' longest pages
	@$(IN_LAB) TEST_LAB=guides tests/gates/test-lab guides
test-long: test-lab-needs  ## faults that end in a timeout of minutes or without the database, variants of what make test has
	@$(IN_LAB) TEST_LAB=long-hosts tests/gates/test-lab long
	@$(IN_LAB) TEST_LAB=long-clusters LAB_BMC_SCHEME=redfish tests/gates/test-lab long-clusters
test-metal: export LAB_KIND := virtual
# Its tests provision all servers.
test-metal: export LAB_INVENTORY := tests/lab/data/metal/lab.yml
test-metal: test-lab-needs  ## virtual servers by each way to boot
	@$(IN_LAB) TEST_LAB=metal-test tests/gates/test-lab metal
# Some of its servers are virtual.
test-metal-pivot: export LAB_FURTHER_PACKAGES := lab/virtual-packages.txt
test-metal-pivot: export LAB_INVENTORY := tests/lab/data/mixed/lab.yml
test-metal-pivot: test-lab-needs  ## virtual servers: their management moves into a cluster and back; a guide's site serves two
	@$(IN_LAB) TEST_LAB=metal-pivot LAB_IRONIC_IMAGE=true tests/gates/test-lab metal-pivot
test-ha: test-lab-needs  ## three control plane machines and three workers, on seven servers; prints time and memory
	@$(IN_LAB) TEST_LAB=ha LAB_SERVERS=7 tests/gates/test-lab ha
test-plane: test-lab-needs  ## the plane as pods of a workload cluster: faults, killed runs, clusterctl
	@$(IN_LAB) LAB_BMC_SCHEME=redfish LAB_IRONIC_IMAGE=true tests/gates/test-lab plane
test-air-gap: test-lab-needs  ## registries and archives in place of the internet, planes from an archive alone
	@$(IN_LAB) LAB_BMC_SCHEME=redfish LAB_IRONIC_IMAGE=true tests/gates/test-lab air-gap
test-plane-upgrade: test-lab-needs  ## a running plane of the release before becomes the present one
	@$(IN_LAB) TEST_LAB=plane-upgrade LAB_SERVERS=5 LAB_BMC_SCHEME=redfish LAB_IRONIC_IMAGE=true tests/gates/test-lab upgrade
test-pivot: test-lab-needs  ## the management moves into a cluster of the lab and back, killed in the middle
	@$(IN_LAB) LAB_BMC_SCHEME=redfish LAB_IRONIC_IMAGE=true tests/gates/test-lab pivot
# Any server may be the one whose deployment is to fail: see the option bmc_scheme of the lab's inventory plugin.
test-lifecycle: test-lab-needs  ## machines of a cluster replaced, reused, healed, upgraded
	@$(IN_LAB) TEST_LAB=life LAB_BMC_SCHEME=redfish tests/gates/test-lab lifecycle
test-scale: export LAB_IRONIC_PROCESSES := separate
test-scale: export LAB_INVENTORY := inventory/lab -i tests/lab/data/without_clusters.yml
test-scale: test-lab-needs  ## Ironic as several processes: a conductor is killed while it deploys
	@$(IN_LAB) TEST_LAB=$(or $(TEST_LAB),scale) LAB_SERVERS=8 LAB_BMC_SCHEME=redfish tests/gates/test-lab scale
test-metalstack: test-lab-needs  ## metal-stack: faults and kills of its playbooks, its clusters on an API server alone and on a lab
	@$(IN_LAB) tests/gates/test-metalstack
test-awx: test-lab-needs  ## playbook awx_setup with awx.awx, playbooks by ansible-runner, the execution environment built, playbooks in it
	@$(IN_LAB) tests/gates/awx

##@ Benchmarks, each but bench on such a lab

.PHONY: bench bench-cluster bench-plane bench-process-plane bench-scale
bench-cluster: test-lab-needs  ## the playbook cluster against kubectl with the same manifests
	@$(IN_LAB) TEST_LAB=bench tests/gates/test-lab bench-cluster
# As docs/sizing.md recommends it for so many; LAB_IRONIC_PROCESSES=combined LAB_PROVISIONING_LIMIT=20 measures the defaults.
bench-scale: export LAB_IRONIC_PROCESSES ?= separate
bench-scale: export LAB_PROVISIONING_LIMIT ?= 50
bench-scale: test-lab-needs  ## hosts per minute from enrolment to available, processor time and memory by program (SERVERS=100)
	@$(IN_LAB) tests/gates/bench-scale
bench-plane: test-lab-needs  ## the playbook install into a cluster against clusterctl init and kubectl with the same manifests
	@$(IN_LAB) TEST_LAB=bench-plane tests/gates/test-lab bench-plane
bench-process-plane: test-lab-needs  ## the playbook install of a bootstrap plane, from nothing until it is ready
	@$(IN_LAB) PYTHONPATH=$(CURDIR)/.build python tests/benchmark/process_plane_run.py
bench: lab-needs venv-bench  ## measure against kubernetes.core, on an API server of its own (BENCH_ARGS=…)
	@PATH=$(BENCH)/bin:$$PATH tests/gates/bench $(BENCH_ARGS)

##@ While you work

.PHONY: pytest
pytest: test-lab-needs  ## chosen tests, on the running lab LAB: make pytest ARGS='tests/lab -k name'
	@$(IN_LAB) pytest $(ARGS)

##@ Upkeep

.PHONY: docs-roles
docs-roles: test-needs  ## write the reference of roles and playbooks again, from argument_specs and docs/reference.yml, and the pattern
	@PYTHONPATH=tests/unit $(DEV)/bin/python tests/unit/tooling/role_pages.py
	@PYTHONPATH=.build:tests/unit $(DEV)/bin/python tests/unit/tooling/pattern.py

.PHONY: lock
lock:  ## resolve requirements*.in again and write the lock files, with hashes
	@$(PYTHON) lab/python_environment.py check
	@for name in requirements requirements-dev requirements-bench requirements-awx lab/requirements lab/engine/toolchain \
	  lab/agent_image/requirements docs/site/requirements tests/galaxy/requirements tests/lab/data/older_ironic/requirements; do \
	  $(PYTHON) lab/python_environment.py lock $$name.in $$name.txt; \
	done

.PHONY: clean
clean:  ## remove what make made in the checkout; the cache and the labs stay
	@rm -rf build .build .pytest_cache .ruff_cache .ansible .hypothesis

.PHONY: help
help:  ## this list
	@awk 'BEGIN {FS = ":.*## "} /^##@ / {printf "\n%s\n", substr($$0, 5)} \
	  /^[a-z-]+:.*## / {printf "  make %-18s %s\n", $$1, $$2}' $(firstword $(MAKEFILE_LIST))

# What the targets above stand on; prints nothing when all is there.

.PHONY: lab-needs test-needs test-lab-needs
lab-needs: link venv-control venv-services
test-needs: link debian-test venv-dev
test-lab-needs: lab-needs test-needs venv-agent

# Debian's list comes first, because it holds python3-venv.
.PHONY: debian-lab debian-test
debian-lab:
	@$(PYTHON) lab/python_environment.py check
	@$(PYTHON) lab/debian_packages.py lab/debian-packages.txt $(if $(filter virtual,$(LAB_KIND)),lab/virtual-packages.txt,$(LAB_FURTHER_PACKAGES)) $(if $(filter separate,$(LAB_IRONIC_PROCESSES)),lab/database-packages.txt)
debian-test: debian-lab
	@$(PYTHON) lab/debian_packages.py tests/debian-packages.txt

.PHONY: venv-control venv-dev venv-bench venv-services venv-agent
venv-control: REQUIREMENTS := requirements.txt
venv-dev: REQUIREMENTS := requirements-dev.txt
venv-bench: REQUIREMENTS := requirements-bench.txt
venv-services: REQUIREMENTS := lab/requirements.txt
venv-agent: REQUIREMENTS := lab/agent_image/requirements.txt
venv-control venv-dev venv-bench venv-services venv-agent: debian-lab
	@$(PYTHON) lab/python_environment.py ensure $(@:venv-%=%) $(REQUIREMENTS) > /dev/null

# The checkout under the name by which Ansible finds a collection.
.PHONY: link
link:
	@mkdir -p .build/ansible_collections/metal3
	@ln -sfn "$(CURDIR)" .build/ansible_collections/metal3/baremetal
