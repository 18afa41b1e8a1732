#!/bin/sh
# SPDX-License-Identifier: GPL-2.0
# The picture of operating.rst, from what "dcqcn record" writes on each host of mlx5.toml.
set -eu
cd "$(dirname "$0")/../.."
tools/sim/sim run Documentation/pictures/mlx5.toml
{
	cat out/sim/mlx5/run/qps.h1
	tail -qn +2 out/sim/mlx5/run/qps.h2 out/sim/mlx5/run/qps.h3
} > out/sim/mlx5/qps.csv
tools/dcqcn/dcqcn plot -o Documentation/pictures/mlx5.png out/sim/mlx5/qps.csv
