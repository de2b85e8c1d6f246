# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What is kept between runs of Ansible's programs gives what Ansible would compute again."""
from __future__ import annotations

import json

import pytest
import warm_ansible
from ansible._internal._templating import _jinja_bits as bits
from fakes import playbook
from jinja2 import TemplateSyntaxError
from jinja2.environment import Environment

INVENTORY = "all: {hosts: {h1: {ansible_connection: local}}}"
FILTER = """\
from jinja2 import pass_environment


def own(value):
    return "first " + value


@pass_environment
def of_environment(environment, value):
    return "second " + value


class FilterModule:
    def filters(self):
        return {"own": %s}
"""


@pytest.fixture(name="generated")
def templates_are_kept(tmp_path, monkeypatch):
    """Return the list of templates that were compiled, none of them a second time."""
    # Undone at the end.
    monkeypatch.setattr(bits.AnsibleEnvironment, "compile", Environment.compile)
    generate, generated = Environment._generate, []

    def counted(self, source, *arguments, **options):
        generated.append(source)
        return generate(self, source, *arguments, **options)
    monkeypatch.setattr(bits.AnsibleEnvironment, "_generate", counted)
    warm_ansible.keep_templates(str(tmp_path))
    return generated


def test_a_template_is_compiled_once(generated):
    first, second = (bits.AnsibleEnvironment().compile("a{{ b }}") for dummy in range(2))
    assert first == second and len(generated) == 1
    assert bits.AnsibleEnvironment().compile("a{{ c }}") not in (first, second) and len(generated) == 2


def test_what_the_compiler_goes_by_makes_another_template(generated):
    text = r"{{ 'a\nb' }}[[ c ]]" + "\n"
    environments = [bits.AnsibleEnvironment(), bits.AnsibleEnvironment(), bits.AnsibleEnvironment()]
    environments[1].variable_start_string, environments[1].variable_end_string = "[[", "]]"
    environments[2].keep_trailing_newline = True
    found = [environment.compile(text) for environment in environments]
    with bits._TemplateCompileContext(escape_backslashes=True):
        found.append(environments[0].compile(text))
    found.append(environments[0].compile(text, "name", "/a/file"))
    assert len(generated) == 5 == len(set(found))


def test_an_error_is_that_of_each_run(generated):
    for dummy in range(2):
        with pytest.raises(TemplateSyntaxError):
            bits.AnsibleEnvironment().compile("{{ a")
    assert generated == []


def test_a_filter_of_a_playbook_is_its_own(tmp_path):
    """The same text, and filters that are called with other arguments."""
    text = json.dumps([{"hosts": "all", "gather_facts": False, "tasks": [
        {"ansible.builtin.debug": {"msg": "found {{ 'x' | own }}"}}]}])
    for function, found in (("own", "first x"), ("of_environment", "second x")):
        folder = tmp_path / function
        (folder / "filter_plugins").mkdir(parents=True)
        (folder / "filter_plugins" / "own.py").write_text(FILTER % function)
        code, output = playbook.play(folder, INVENTORY, text, "play.yml")
        assert code == 0 and f"found {found}" in output, output


def test_the_collections_filters_and_tests_are_found_as_ansible_finds_them(tmp_path):
    text = json.dumps([{"hosts": "all", "gather_facts": False, "tasks": [{"ansible.builtin.debug": {
        "msg": "{{ [given | metal3.baremetal.mac_normal, given is metal3.baremetal.mac, 'x' is metal3.baremetal.mac]"
               " | join(' ') }}"}}], "vars": {"given": "00-5C-52-00-00-01"}}])
    for dummy in range(2):
        code, output = playbook.play(tmp_path, INVENTORY, text, "play.yml")
        assert code == 0 and "00:5c:52:00:00:01 True False" in output, output
    text = text.replace("mac_normal", "no_such_filter")
    code, output = playbook.play(tmp_path, INVENTORY, text, "play.yml")
    assert code != 0 and "no_such_filter" in output, output
