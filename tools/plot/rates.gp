# SPDX-License-Identifier: GPL-2.0
#
# Rate, alpha, queue and CNPs over time of each QP in what "dcqcn record" wrote. "dcqcn plot"
# sets: svg, style (the path of style.gp), end (s), num, limited (whether any QP ever was), name[]
# (of each QP); and $samples, a block for each QP: time, Mb/s, alpha, KB held, CNPs handled. The
# lines of a QP that was never limited have no points, except for the CNPs.

height = 1000
load style

set multiplot layout 4,1
set xrange [0:end]
set key outside top horizontal noenhanced maxrows 3
set format x ""

set ylabel "rate, Mb/s"
if (!limited) { set yrange [0:1] }
plot for [i = 1:num] $samples index i - 1 using 1:2 with lines title name[i]
unset key

set ylabel "alpha"
set yrange [0:1]
plot for [i = 1:num] $samples index i - 1 using 1:3 with lines
if (limited) { set yrange [0:*] }

set ylabel "held, kB"
plot for [i = 1:num] $samples index i - 1 using 1:4 with lines

set format x "%g"
set xlabel "time, s"
set yrange [0:*]
set ylabel "CNPs handled"
plot for [i = 1:num] $samples index i - 1 using 1:5 with steps
unset multiplot
