"""Profiling: synthetic messages, what is played over a scratch store and measured, and flame graphs."""

from memctx.cli.profiling.flame_graph import find_profiler as find_profiler
from memctx.cli.profiling.flame_graph import write_flame_graph as write_flame_graph
from memctx.cli.profiling.playing import SESSION as SESSION
from memctx.cli.profiling.playing import Operation as Operation
from memctx.cli.profiling.playing import Player as Player
from memctx.cli.profiling.playing import Spread as Spread
from memctx.cli.profiling.playing import Supply as Supply
from memctx.cli.profiling.playing import play_all as play_all
from memctx.cli.profiling.playing import supply_from as supply_from
from memctx.cli.profiling.synthetic import make_messages as make_messages
