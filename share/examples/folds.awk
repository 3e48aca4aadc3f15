# folds.awk: assign groups of videos to folds, the largest group first, each to the
# fold with the fewest videos.  transfer.mk and two-stream.mk run it:
#
#   awk -f folds.awk -v group=recording -v folds=5 all.csv
#
# The list has a header with the columns path, label and that of the group.  Without a
# group, each video is a group.  The output has the columns path, label and fold.
BEGIN { FS = OFS = "," }
{ sub(/\r$/, "") }
NR == 1 {
	for (i = 1; i <= NF; i++)
		at[$i] = i
	if (!at["path"] || !at["label"] || (group != "" && !at[group])) {
		print FILENAME ":1: found " $0 ", wanted columns path, label" (group == "" ? "" : ", " group) >"/dev/stderr"
		exit bad = 1
	}
	next
}
{
	path[++n] = $at["path"]
	label[n] = $at["label"]
	of[n] = group == "" ? n : $at[group]
	if (!size[of[n]]++)
		name[++groups] = of[n]
}
END {
	if (bad)
		exit 1
	if (groups < folds) {
		print FILENAME ": found " groups + 0 " groups, wanted one a fold, " folds >"/dev/stderr"
		exit 1
	}
	for (j = 1; j <= groups; j++) {
		big = 0
		for (i = 1; i <= groups; i++)
			if (!fold[name[i]] && (!big || size[name[i]] > size[name[big]]))
				big = i
		least = 1
		for (f = 2; f <= folds; f++)
			if (has[f] + 0 < has[least] + 0)
				least = f
		fold[name[big]] = least
		has[least] += size[name[big]]
	}
	print "path,label,fold"
	for (i = 1; i <= n; i++)
		print path[i], label[i], fold[of[i]]
}
