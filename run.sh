cd /tmp/w/explore
rm -rf out/c3 out/crash-*; mkdir -p out/c3
timeout ${T:-60} out/${B:-explore-fast}/fuzz_explore -seed=${S:-1} -runs=${1:-20000} -max_len=256 -timeout=20 -artifact_prefix=out/ out/c3 >out/log 2>&1
grep -E "explored|longest|Done" out/log
tail -2 out/log | cut -c1-200
ls out/crash-* 2>/dev/null
