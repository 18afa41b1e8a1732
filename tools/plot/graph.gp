# SPDX-License-Identifier: GPL-2.0
# A scenario's runs as points of lines, a panel each. graph.py sets: input_file, title_text;
# x_title; lines, how many; line_titles[]
set terminal png size 900,60 + 220 * lines font "sans,9"
set datafile separator ","
set multiplot layout lines,1 title title_text noenhanced
set grid lc rgb "#dddddd"
set lmargin 14
set rmargin 4
set yrange [0:*]
set xrange [0:*]
unset key
do for [i = 1:lines] {
	set xlabel (i == lines ? x_title : "") noenhanced
	set ylabel line_titles[i] noenhanced
	plot input_file using 1:(column(i + 1)) skip 1 with linespoints lw 2 pt 7 \
		lc rgb "#2244aa" notitle
}
unset multiplot
