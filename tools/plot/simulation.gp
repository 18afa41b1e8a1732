# SPDX-License-Identifier: GPL-2.0
# A run as a picture. pictures.py sets: dir, title_text, kmin, kmax, end (ms); and
# $rates, a block for each flow: ms, Mb/s.
set terminal pngcairo size 1200,1000 font "sans,10"
set datafile separator ","
set multiplot layout 3,1 title title_text noenhanced
set xrange [0:end]
set lmargin 12
set rmargin 4
set grid lc rgb "#dddddd"
set key outside top horizontal right samplen 1
set format x ""

set ylabel "goodput, Gb/s"
set yrange [0:*]
unset key
plot $rates using 1:($2/1000):(column(-1)+1) with lines lw 1 lc variable notitle

set ylabel "queue, KB"
set key inside top right
plot dir."/queue.csv" using 1:($3/1000) with lines lc rgb "#bbccee" title "most in a moment", \
     dir."/queue.csv" using 1:($2/1000) with lines lc rgb "#2244aa" title "mean", \
     kmin/1000. with lines dt 2 lc rgb "#228822" title "Kmin", \
     kmax/1000. with lines dt 2 lc rgb "#aa2222" title "Kmax"

set format x "%g"
set xlabel "simulated time, ms"
set ylabel "per ms"
plot dir."/queue.csv" using 1:4 with steps lc rgb "#aa2222" title "CE marks", \
     dir."/queue.csv" using 1:5 with steps lc rgb "#000000" title "drops", \
     dir."/cnps.csv" using 1:2 with steps lc rgb "#2244aa" title "CNPs"
unset multiplot
