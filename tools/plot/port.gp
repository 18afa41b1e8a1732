# SPDX-License-Identifier: GPL-2.0
#
# Rate, queue, marks, losses, pauses and PFC frames over time of each class in what "dcqcn port
# record" wrote. "dcqcn plot" sets: svg, style (the path of style.gp), end (s), num, name[] (of
# each class); and $samples, a block for each class: time, KB queued, Mb/s, marks/s, losses/s,
# PFC frames sent/s, % paused.

height = 1100
load style

set multiplot layout 4,1
set xrange [0:end]
set yrange [0:*]
set key outside top horizontal noenhanced maxrows 3
set format x ""

set ylabel "rate, Mb/s"
plot for [i = 1:num] $samples index i - 1 using 1:3 with lines title name[i]
unset key

set ylabel "queue, kB"
plot for [i = 1:num] $samples index i - 1 using 1:2 with lines

set key outside top horizontal noenhanced maxrows 1
set ylabel "per second"
plot for [i = 1:num] $samples index i - 1 using 1:4 \
		with lines lc rgb "#aa2222" title (i > 1 ? "" : "CE marks"), \
     for [i = 1:num] $samples index i - 1 using 1:5 \
		with lines lc rgb "#999999" title (i > 1 ? "" : "lost"), \
     for [i = 1:num] $samples index i - 1 using 1:6 \
		with lines lc rgb "#c07000" title (i > 1 ? "" : "PFC frames sent")
unset key

set format x "%g"
set xlabel "time, s"
set ylabel "paused, %"
set yrange [0:100]
plot for [i = 1:num] $samples index i - 1 using 1:7 with lines
unset multiplot
