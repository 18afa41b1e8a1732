cd /tmp/w/explore; EXPLORE_VERBOSE= ; ${2:-out/explore}/fuzz_explore $1 2>&1 | grep -vE "^INFO|^\s*$|^Running|^    #|^==|^SUMM|^NOTE|Combine" | head -80 | cut -c1-160
