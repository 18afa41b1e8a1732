# SPDX-License-Identifier: GPL-2.0
#
# gnuplot -c port.gp RUN.csv OUTPUT.png|OUTPUT.svg [TITLE]
#
# Rate, queue, marks, losses, pauses and PFC frames over time of each class in what "dcqcn
# port record" wrote. Columns go by their names; awk picks a class's lines, and takes
# differences of counters. A port that was created again counts from zero.

csv = ARG1
output = ARG2
heading = ARG3

if (csv eq "" || output eq "") {
	print "usage: gnuplot -c port.gp RUN.csv OUTPUT.png|OUTPUT.svg [TITLE]"
	exit status 1
}

# In the shell's quotes
quoted = "'" . system("sed \"s/'/'\\\\\\\\''/g\" <<'END_OF_NAME'\n" . csv . "\nEND_OF_NAME\n") . "'"

head = "NR == 1 { for (i = 1; i <= NF; i++) col[$i] = i; next } "
begin = system("awk -F, 'NR == 2 { print $1; exit }' " . quoted)
end = system("awk -F, 'END { print $1 }' " . quoted)
classes = system("awk -F, '" . head . "{ k = $col[\"dev\"] \":\" $col[\"prio\"]; if (!(k in seen)) { seen[k]; print k } }' " . quoted)

line(class) = head . "$col[\"dev\"] \":\" $col[\"prio\"] == \"" . class . "\" "
# Time and one column of a class, in units of so much
level(class, column, unit) = "< awk -F, '" . line(class) . \
	"{ printf(\"%.9f %.9g\\n\", $1 - " . begin . ", $col[\"" . column . "\"] / " . unit . ") }' " . quoted
# Its growth per second
growth(class, column, unit) = "< awk -F, '" . line(class) . \
	"{ v = $col[\"" . column . "\"]; if (n++) printf(\"%.9f %.9g\\n\", $1 - " . begin . \
	", (v < old ? v : v - old) / ($1 - then) / " . unit . "); old = v; then = $1 }' " . quoted

height = 1100
load system("dirname '" . ARG0 . "'") . "/style.gp"

set multiplot layout 4,1 title heading noenhanced
set xrange [0:end - begin]
set yrange [0:*]
set key outside top horizontal noenhanced maxrows 3
set format x ""

set ylabel "rate, Mb/s"
plot for [c in classes] growth(c, "out_bytes", "125e3") using 1:2 with lines title c
unset key

set ylabel "queue, kB"
plot for [c in classes] level(c, "queue_bytes", "1e3") using 1:2 with lines

set key outside top horizontal noenhanced maxrows 1
set ylabel "per second"
plot for [i = 1:words(classes)] growth(word(classes, i), "marked", "1") using 1:2 \
		with lines lc rgb "#aa2222" title (i > 1 ? "" : "CE marks"), \
     for [i = 1:words(classes)] growth(word(classes, i), "lost", "1") using 1:2 \
		with lines lc rgb "#999999" title (i > 1 ? "" : "lost"), \
     for [i = 1:words(classes)] growth(word(classes, i), "tx_pause", "1") using 1:2 \
		with lines lc rgb "#c07000" title (i > 1 ? "" : "PFC frames sent")
unset key

set format x "%g"
set xlabel "time, s"
set ylabel "paused, %"
set yrange [0:100]
plot for [c in classes] growth(c, "paused_us", "1e4") using 1:2 with lines
unset multiplot
