# SPDX-License-Identifier: GPL-2.0
#
# What "dcqcn model --sweep" draws: one input against what it costs and gains. The command
# sets: svg, style (the path of style.gp), key, $points (value, utilisation, mean queue, its 5th
# and 95th percentile, PFC frames per second, bytes lost).

height = 800
load style

set multiplot layout 3,1
set xrange [*:*]
set key outside top horizontal
set ylabel "of the link, %"
set yrange [*:100.5]
plot $points using 1:(100 * $2) with linespoints pt 7 notitle
set yrange [0:*]
set ylabel "queue, KB"
plot $points using 1:($4 / 1e3):($5 / 1e3) with filledcurves fc rgb "#dddddd" title "5 to 95 % of the time", \
	$points using 1:($3 / 1e3) with linespoints pt 7 title "mean"
set ylabel "PFC frames per second"
set xlabel key noenhanced
plot $points using 1:6 with linespoints pt 7 notitle
unset multiplot
