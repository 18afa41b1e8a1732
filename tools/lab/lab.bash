# SPDX-License-Identifier: GPL-2.0
# bash completion of lab(8), after testbed/completion.bash

_lab()
{
	local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]}
	local commands="up status lldp exec shell capture set down run record draw list image build"
	local command=${COMP_WORDS[1]} kernels="6.1 6.12 6.18 7.2 6.12-rt trixie-backports sid"
	local options=""

	COMPREPLY=()
	if [ "$COMP_CWORD" = 1 ]; then
		_testbed_words "$commands --version --help"
		return
	fi
	case $prev in
	--kernel)
		_testbed_words "$kernels"
		return ;;
	--profile)
		_testbed_words "stock auto mlx5 sigcomm15"
		return ;;
	--cnp)
		_testbed_words "strict data"
		return ;;
	--module|--out|-o|--write|-w)
		mapfile -t COMPREPLY < <(compgen -f -- "$cur")
		return ;;
	--port)
		_testbed_words "dcbport tc"
		return ;;
	--install|--pfc|--xoff|--xon|--headroom|--hosts|--rate|--delay|--kmin|--kmax|--pmax|--buffer|--tdf|--only|--set|--duration|-d|\
	--filter|-f|--snaplen|-s|--title|-t)
		return ;;
	esac
	case $command in
	up)	options="--hosts --kernel --rate --delay --kmin --kmax --pmax --buffer --cnp
			--port --pfc --xoff --xon --headroom --dcbx --profile --install --module
			--tdf" ;;
	run)	options="--short --only --live --check --stock-only --kernel --install --module
			--tdf --set --out --json --" ;;
	status|lldp|list)	options="--json" ;;
	capture)	options="--write --duration --filter --snaplen" ;;
	record)	options="--duration --out" ;;
	draw)	options="--out --title" ;;
	image)	options="--kernel --kdir" ;;
	build)	options="--kernel" ;;
	esac
	# a program of this machine in place of perftest
	if [[ $command = run && " ${COMP_WORDS[*]:2:COMP_CWORD-2} " = *" -- "* ]]; then
		mapfile -t COMPREPLY < <(compgen -f -- "$cur")
		return
	fi
	case $command:$cur in
	*:-*)	_testbed_words "$options --help" ;;
	up:*|run:*)	_testbed_scenarios ;;
	exec:*)	_testbed_words "h1 h2 h3 s1 --" ;;
	shell:*)	_testbed_words "h1 h2 h3 s1" ;;
	capture:*)	_testbed_words "s1.h1 s1.h2 s1.h3" ;;
	set:*)	_testbed_words "h1 h2 h3 s1 rate= delay= kmin= kmax= pmax= buffer= cnp= ecn= pfc=
			xoff= xon= headroom= profile=" ;;
	draw:*)	mapfile -t COMPREPLY < <(compgen -f -- "$cur") ;;
	esac
}

complete -F _lab lab
