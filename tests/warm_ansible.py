# Copyright (c) 2026, metal3.baremetal contributors
# GNU General Public License v3.0+ (see LICENSE or https://www.gnu.org/licenses/gpl-3.0.txt)
# SPDX-License-Identifier: GPL-3.0-or-later
"""What Ansible computes in the process of each task, kept for all runs of one process; see program_forks.

Each task has a process of its own, which begins without what others have compiled and looked up.
"""
from __future__ import annotations

import hashlib
import importlib
import marshal
import os
import tempfile

import forks

_COLLECTION = "metal3.baremetal."
# Those of an environment by which its lexer and compiler differ, beside its class.
_SETTINGS = (
    "block_start_string", "block_end_string", "variable_start_string", "variable_end_string", "comment_start_string",
    "comment_end_string", "line_statement_prefix", "line_comment_prefix", "trim_blocks", "lstrip_blocks",
    "newline_sequence", "keep_trailing_newline", "optimized", "autoescape", "is_async")


def keep_templates(folder):
    """Keep compiled templates in files: to compile them is a third of a task.

    The code that comes of a template has constants only that stand in its text: Ansible has Jinja fold none, and adds
    trust and origin when it runs. Beside settings it differs by how filters and tests are called: those of playbooks
    and roles by the folders that have them.

    :param folder: of these files, for runs with the same settings of Ansible
    """
    bits, loader = (importlib.import_module(f"ansible.{name}") for name in (
        "_internal._templating._jinja_bits", "plugins.loader"))
    compiled = bits.AnsibleEnvironment.compile

    def kept(self, source, name=None, filename=None, raw=False, defer_init=False):
        if not isinstance(source, str) or raw:
            return compiled(self, source, name, filename, raw, defer_init)
        context = bits._TemplateCompileContext.current(optional=True)
        key = (str(source), name and str(name), filename and str(filename), defer_init,
               bool(context and context.escape_backslashes), type(self).__qualname__, sorted(self.extensions),
               [getattr(self, setting) for setting in _SETTINGS],
               [list(map(str, plugins._extra_dirs)) for plugins in (loader.filter_loader, loader.test_loader)])
        path = os.path.join(folder, hashlib.sha256(repr(key).encode("utf-8", "surrogatepass")).hexdigest())
        try:
            with open(path, "rb") as stream:
                return marshal.load(stream)
        except FileNotFoundError:
            pass
        code = compiled(self, source, name, filename, raw, defer_init)
        # Whole, whoever reads it meanwhile.
        with tempfile.NamedTemporaryFile(dir=folder, delete=False) as stream:
            marshal.dump(code, stream)
        os.replace(stream.name, path)
        return code

    bits.AnsibleEnvironment.compile = kept


def keep_filters():
    """Find the collection's filters and tests once: Ansible goes through all files of their folder for each name."""
    loader = importlib.import_module("ansible.plugins.loader")
    for kind, plugins in (("filter", loader.filter_loader), ("test", loader.test_loader)):
        # Ansible's own.
        plugins._ensure_non_collection_wrappers()
        _keep_found(plugins, [_COLLECTION + path.stem for path in forks.plugin_files(kind)])


def _keep_found(plugins, names):
    found, find = {}, plugins.get_with_context

    def kept(name, *arguments, **options):
        # What a playbook brings itself is looked for.
        return found[name] if name in found else find(name, *arguments, **options)

    found.update((name, result) for name, result in ((name, find(name)) for name in names) if result.object)
    plugins.get_with_context = kept


def wait_calmly():
    """Let Ansible look for results of its tasks 100 times each second, not 1000 times, for which there is no variable.

    On a busy machine it would compute more by that than by its tasks.
    """
    importlib.import_module("ansible.constants").DEFAULT_INTERNAL_POLL_INTERVAL = 0.01
