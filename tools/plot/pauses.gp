# SPDX-License-Identifier: GPL-2.0
# Queues, and who was paused meanwhile. pictures.py sets: dir, title_text, end (ms);
# queue_names[], of queues.csv; paused_names[], of paused.csv
set terminal png size 900,330 + 22 * |paused_names| font "sans,9"
set datafile separator ","
set multiplot title title_text noenhanced
set xrange [0:end]
set lmargin 14
set rmargin 4
set grid lc rgb "#dddddd"
bars = 60 + 22 * |paused_names|
height = 330. + 22 * |paused_names|

set tmargin at screen 1 - 40 / height
set bmargin at screen (bars + 10) / height
set format x ""
set ylabel "queues, KB"
set yrange [0:*]
set key inside top right horizontal samplen 1
plot for [i = 1:|queue_names|] dir."/queues.csv" using 1:(column(i + 1) / 1000) with lines \
	lw 1.5 title queue_names[i] noenhanced

set tmargin at screen bars / height
set bmargin at screen 50 / height
set format x "%g"
set xlabel "simulated time, ms"
set ylabel "paused"
set yrange [|paused_names| + 0.5:0.5]
set ytics () noenhanced
set for [i = 1:|paused_names|] ytics add (paused_names[i] i)
set style fill solid noborder
plot dir."/paused.csv" using (($1 + $2) / 2):3:1:2:($3 - 0.3):($3 + 0.3) \
	with boxxyerror lc rgb "#aa2222" notitle
unset multiplot
