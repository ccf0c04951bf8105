"""Settings files of agent hosts: the hooks and the MCP server of memctx are added to them, and removed again."""

from memctx.hosts.settings.checking import check_hooks as check_hooks
from memctx.hosts.settings.hosts import HOOKS as HOOKS
from memctx.hosts.settings.hosts import HOSTS as HOSTS
from memctx.hosts.settings.hosts import HostName as HostName
from memctx.hosts.settings.hosts import Place as Place
from memctx.hosts.settings.hosts import Scope as Scope
from memctx.hosts.settings.hosts import default_place as default_place
from memctx.hosts.settings.hosts import has_mcp as has_mcp
from memctx.hosts.settings.hosts import is_ours as is_ours
from memctx.hosts.settings.hosts import targets as targets
from memctx.hosts.settings.installing import Change as Change
from memctx.hosts.settings.installing import install as install
from memctx.hosts.settings.installing import is_installed as is_installed
from memctx.hosts.settings.installing import plan_install as plan_install
from memctx.hosts.settings.installing import plan_uninstall as plan_uninstall
from memctx.hosts.settings.installing import uninstall as uninstall
