# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""The guides, README and documents name only what there is: commands, playbooks, variables, options, files."""
from __future__ import annotations

import itertools
import re
import shlex

import pytest
from tooling import ansible_yaml
from tooling.module_options import COLLECTION, documented_options, misfits, tasks_of
from tooling.pages import GUIDES, PAGES, ROOT, blocks, typed

from ansible_collections.metal3.baremetal.plugins.module_utils._cluster.workflow.steps import STEPS
from ansible_collections.metal3.baremetal.plugins.module_utils._host.state.errors import explain

PLUGIN_FOLDERS = ("modules", "filter", "test", "inventory")
# The first words of commands that are not this project's.
OTHER_COMMANDS = {"ansible-doc", "ansible-galaxy", "ansible-inventory", "apt-get", "cat", "curl", "eval", "export",
                  "git", "kubeadm", "kubectl", "loginctl", "pip", "runuser", "tar", "useradd"}
# Variables that begin so are the collection's.
PREFIXES = ("bmc_", "bmh_", "boot_mac", "certificates_", "collect_logs_", "compliance_", "enroll_", "ironic_audit_",
            "ironic_nodes_", "lint_", "maintain_", "metal3_", "mirror_", "network_check_", "provision_", "rotate_",
            "uninstall_", "upgrade_", *(f"{path.name}_" for path in sorted((ROOT / "roles").iterdir())))


def commands(path):
    """Yield the commands of a page as lists of words."""
    for language, text in blocks(path):
        text = typed(text) if language == "console" else text
        if language in ("shell", "bash", "console", "") and re.match(r"(?:[A-Z_]+=\S+ )*(?:[a-z-]+ |make\b)", text):
            for line in text.replace("\\\n", " ").splitlines():
                words = list(itertools.dropwhile(re.compile("[A-Z_]+=").match, shlex.split(line, comments=True)))
                if words and re.fullmatch(r"[a-z-]+", words[0]):
                    yield words


def known_words():
    """Return all words of roles, playbooks, inventories and plugins, which is where a variable is used or described."""
    words = set()
    for folder in ("roles", "playbooks", "inventory", "plugins"):
        for path in (ROOT / folder).rglob("*"):
            if path.suffix in (".yml", ".py", ".j2"):
                words.update(re.findall(r"[a-z][a-z0-9_]+", path.read_text()))
    return words


WORDS = known_words()
# Option names of hosts are variables with this prefix; the prefix stands in one place only.
HOST_OPTIONS = set(documented_options("baremetal_host")["hosts"]["suboptions"])


def choices():
    """Return the choices of the roles' options by name, and those of the playbook ``host_action``."""
    found = {"host_action": documented_options("baremetal_host_action")["action"]["choices"],
             "machine_action": documented_options("machine_action")["action"]["choices"]}
    options = documented_options("baremetal_host")["hosts"]["suboptions"]
    found.update((f"bmh_{name}", option["choices"]) for name, option in options.items() if option.get("choices"))
    for path in (ROOT / "roles").glob("*/meta/argument_specs.yml"):
        for entry_point in ansible_yaml.read(path)["argument_specs"].values():
            found.update((name, option["choices"]) for name, option in (entry_point.get("options") or {}).items()
                         if option.get("choices"))
    return found


CHOICES = choices()


def is_known(variable):
    return variable in WORDS or (variable.startswith("bmh_") and variable[4:] in HOST_OPTIONS)


@pytest.mark.parametrize("path", GUIDES + PAGES, ids=lambda path: str(path.relative_to(ROOT)))
def test_the_commands_of_a_page_are_there(path):
    targets = set(re.findall(r"^([a-z-]+)(?: [a-z-]+)*:", (ROOT / "Makefile").read_text(), re.MULTILINE))
    wrong = []
    for command, *words in commands(path):
        given = [word.partition("=")[::2] for before, word in zip(words, words[1:])
                 if before == "-e" and "=" in word and not word.startswith("{")]
        wrong += [f"-e {name}" for name, _value in given if not is_known(name) and "vault" not in name]
        wrong += [f"-e {name}={value}" for name, value in given if value not in CHOICES.get(name, [value])]
        if command == "make":
            wrong += [f"make {word}" for word in words if "=" not in word and word not in targets]
        elif command == "ansible-playbook":
            names = [word[len(COLLECTION):] for word in words if word.startswith(COLLECTION)]
            wrong += [f"playbook {name}" for name in names if not (ROOT / "playbooks" / f"{name}.yml").is_file()]
        elif command not in OTHER_COMMANDS:
            wrong.append(command)
    assert wrong == []


@pytest.mark.parametrize("path", GUIDES + PAGES, ids=lambda path: str(path.relative_to(ROOT)))
def test_the_tasks_of_a_page_have_options_that_the_modules_have(path):
    wrong = []
    for language, text in blocks(path):
        if language in ("yaml", "yaml+jinja"):
            for module, arguments in tasks_of(ansible_yaml.load(text)):
                wrong += misfits(arguments, documented_options(module), f"{module}: ", complete=False)
    assert wrong == []


@pytest.mark.parametrize("path", GUIDES + PAGES, ids=lambda path: str(path.relative_to(ROOT)))
def test_the_names_of_the_collection_in_a_page_are_there(path):
    text = path.read_text()
    names = set(re.findall(r"metal3\.baremetal\.([a-z_]+)\b(?!\.)", text)) - {"docsite"}
    there = {found.stem for folder in PLUGIN_FOLDERS for found in (ROOT / "plugins" / folder).glob("*.py")}
    there |= {found.stem for folder in ("playbooks", "plugins/doc_fragments", "roles")
              for found in (ROOT / folder).iterdir()}
    assert sorted(names - there) == []


@pytest.mark.parametrize("path", [*GUIDES, ROOT / "README.md"], ids=lambda path: str(path.relative_to(ROOT)))
def test_the_variables_of_a_page_are_used_somewhere(path):
    quoted = re.findall(r"``?([a-z0-9_]+)(?:(?:=|: )[^`]*)?``?", path.read_text())
    yaml_keys = [key for language, text in blocks(path) if language in ("yaml", "yaml+jinja")
                 for key in re.findall(r"^\s*(?:- )?([a-z0-9_]+):", text, re.MULTILINE)]
    variables = {word for word in quoted + yaml_keys if word.startswith(PREFIXES) and word not in PREFIXES}
    assert sorted(word for word in variables if not is_known(word)) == []
    values = re.findall(r"``?([a-z0-9_]+)(?:=|: )([\w.-]+)``?", path.read_text())
    assert [f"{name}={value}" for name, value in values if value not in CHOICES.get(name, [value])] == []


@pytest.mark.parametrize("path", PAGES, ids=lambda path: str(path.relative_to(ROOT)))
def test_the_links_of_a_page_lead_to_files(path):
    links = re.findall(r"\]\(([^)#\s]+)(?:#[^)]*)?\)", path.read_text())
    missing = [link for link in links if "://" not in link and not (path.parent / link).exists()]
    assert missing == []


@pytest.mark.parametrize("page", ["docs/architecture.md", "CONTRIBUTING.md"])
def test_the_files_of_a_page_for_contributors_are_there(page):
    text = (ROOT / page).read_text()
    rooms = [f"plugins/module_utils/{path}" for path in re.findall(r"`(_[a-z]+/[\w./-]*)`", text)]
    others = re.findall(r"`((?:docs|lab|playbooks|plugins|roles|tests)/[\w./-]+)`", text)
    assert rooms and others
    missing = [path for path in rooms + others if not (ROOT / path).exists()]
    assert missing == []


def test_each_guide_is_in_the_table_of_contents():
    extra = ansible_yaml.read(ROOT / "docs" / "docsite" / "extra-docs.yml")
    listed = [name for section in extra["sections"] for name in section["toctree"]]
    assert sorted(listed) == [path.stem for path in GUIDES]


def test_the_guide_has_the_steps_as_the_wait_prints_them():
    text = (ROOT / "docs" / "docsite" / "rst" / "concepts.rst").read_text()
    rows = re.findall(r"^   \* - (\d+)\n     - (.+)$", text, re.MULTILINE)
    assert {int(number): title for number, title in rows} == STEPS


def quoted(section):
    """Return what the first column of a table of the troubleshooting page quotes."""
    text = (ROOT / "docs" / "docsite" / "rst" / "troubleshooting.rst").read_text()
    text = text.partition(f"\n{section}\n---")[2].partition("\n\n.. ")[2]
    table = re.split(r"^-{5,}$", text, maxsplit=1, flags=re.MULTILINE)[0]
    return re.findall(r"^   \* - \*(.+)\*$", table, re.MULTILINE)


def test_how_far_a_boot_is_stands_on_the_troubleshooting_page_as_the_wait_prints_it():
    printed = "".join((ROOT / "plugins" / "module_utils" / "_boot" / name).read_text()
                      for name in ("traces.py", "node_phase.py", "console.py", "power.py", "system_ports.py"))
    texts = quoted("How far a boot is")
    assert len(texts) >= 5
    for text in texts:
        # What was asked for and refused is printed as what was read, with the answer.
        text = text.partition(": HTTP ")[0].replace("asked for ", "read ")
        assert f'"{text}"' in printed or f'"{text.removeprefix("read ")}"' in printed, text


def test_each_message_of_the_troubleshooting_page_has_a_cause():
    """The page quotes messages of BMO and Ironic: the table behind the modules' errors knows each of them."""
    messages = quoted("A host reports an error")
    assert len(messages) >= 15
    unknown = explain("", "").cause
    assert [message for message in messages if explain("", message).cause == unknown] == []


def test_the_reference_lists_each_playbook():
    text = (ROOT / "docs" / "docsite" / "rst" / "reference.rst").read_text()
    table, = re.findall(r"^Playbooks\n-+\n(.*?)^Variables of", text, re.MULTILINE | re.DOTALL)
    listed = re.findall(r"^   \* - ``(\w+)``$", table, re.MULTILINE)
    assert sorted(listed) == sorted(path.stem for path in (ROOT / "playbooks").glob("*.yml"))
