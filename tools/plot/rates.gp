# SPDX-License-Identifier: GPL-2.0
#
# gnuplot -c rates.gp RUN.csv OUTPUT.png|OUTPUT.svg [TITLE]
#
# Rate, alpha, queue and CNPs over time of each QP in what "dcqcn record" wrote.
# The line of a QP is interrupted while it is not limited. Columns are found by their
# names; awk picks a QP's lines.

csv = ARG1
output = ARG2
heading = ARG3

if (csv eq "" || output eq "") {
	print "usage: gnuplot -c rates.gp RUN.csv OUTPUT.png|OUTPUT.svg [TITLE]"
	exit status 1
}

# In the shell's quotes
quoted = "'" . system("sed \"s/'/'\\\\\\\\''/g\" <<'END_OF_NAME'\n" . csv . "\nEND_OF_NAME\n") . "'"

head = "NR == 1 { for (i = 1; i <= NF; i++) col[$i] = i; next } "
begin = system("awk -F, 'NR == 2 { print $1; exit }' " . quoted)
end = system("awk -F, 'END { print $1 }' " . quoted)
qps = system("awk -F, '" . head . "{ k = $col[\"dev\"] \":\" $col[\"qpn\"]; if (!(k in seen)) { seen[k]; print k } }' " . quoted)
if (words(qps) == 0) {
	print "no QP in " . csv
	exit status 1
}

# Time and one column, or an expression of columns, of one QP
data(qp, expression) = "< awk -F, '" . head . \
	"$col[\"dev\"] \":\" $col[\"qpn\"] == \"" . qp . "\" { " . \
	"if ($col[\"state\"] == 0) print \"\"; else " . \
	"printf(\"%.9f %.9g\\n\", $1 - " . begin . ", " . expression . ") }' " . quoted
# series that continue while nothing is limited
always(qp, expression) = "< awk -F, '" . head . \
	"$col[\"dev\"] \":\" $col[\"qpn\"] == \"" . qp . "\" { " . \
	"printf(\"%.9f %.9g\\n\", $1 - " . begin . ", " . expression . ") }' " . quoted

height = 1000
load system("dirname '" . ARG0 . "'") . "/style.gp"

set multiplot layout 4,1 title heading noenhanced
set xrange [0:end - begin]
set key outside top horizontal noenhanced maxrows 3
set format x ""

set ylabel "rate, Mb/s"
plot for [qp in qps] data(qp, "$col[\"rate\"] / 1e6") using 1:2 with lines title qp
unset key

set ylabel "alpha"
set yrange [0:1]
plot for [qp in qps] data(qp, "$col[\"alpha\"]") using 1:2 with lines
set yrange [0:*]

set ylabel "held, kB"
plot for [qp in qps] data(qp, "$col[\"queue_bytes\"] / 1e3") using 1:2 with lines

set format x "%g"
set xlabel "time, s"
set ylabel "CNPs handled"
plot for [qp in qps] always(qp, "$col[\"cnp_handled\"]") using 1:2 with steps
unset multiplot
