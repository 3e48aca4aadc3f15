#!/bin/sh
# The manual converts files of other programs: each program in vt-lists(5)
# gives a list that vt-extract reads, with the parts of the file.
cd "${0%/*}/../.." || exit 2
. tests/lib.sh

# recipe TITLE: print the program that follows ".It TITLE..." in the page.
recipe() {
	awk -v title=".It $1" '
		index($0, title) == 1 { on = 1 }
		on && /^\.Ed/ { exit }
		on && shown { gsub(/\\e/, "\\"); sub(/^\\&/, ""); print }
		on && /^\.Bd/ { shown = 1 }' man/vt-lists.5
}
# converts PROGRAM TITLE TEXT PROGRAM-TEXT WANTED: check the rows of the list
# that the program, in the language PROGRAM, prints of a file with TEXT.
converts() {
	if ! command -v "$1" >/dev/null; then
		skip "$2" "no $1"
		return
	fi
	printf '%s' "$3" >"$T/file"
	printf '%s\n' "$4" | sed "s|FILE|$T/file|g" >"$T/program"
	sh "$T/program" >"$T/list.csv" 2>"$T/program.err" || diag "$(cat "$T/program.err")"
	check_same "$2" "$5" \
		"$(vt-extract -q --print-list --annotations="$T/list.csv" 2>&1 | sed 1d | tr '\n' ' ')"
}
# filters TITLE TEXT WANTED: the same for a filter of jq.
filters() {
	converts jq "$1" "$2" "jq -r '[\"path\",\"label\",\"time_start\",\"time_end\"], ($(recipe "$1")) | @csv' FILE" "$3"
}

converts jq "A JSON object of videos and their classes" '{"a":{"label":"walk"},"b":{"label":"run"}}' \
	"$(recipe 'A JSON object')" "a.mp4,walk b.mp4,run "
converts jq "A JSON array of objects" \
	'[{"video":"a.mp4","label":"walk","start":0.5,"end":1.7},{"video":"b.mp4","label":"run","start":"00:02.25","end":"00:03.5"}]' \
	"$(recipe 'A JSON array')" "a.mp4,walk,0.5,1.7 b.mp4,run,2.25,3.5 "
filters "V7 Darwin" '{"version":"2.0","item":{"slots":[{"fps":5,"source_files":[{"file_name":"a.mp4"}]}]},"annotations":[{"name":"walk","ranges":[[5,10],[15,20]]}]}' \
	"a.mp4,walk,1,2 a.mp4,walk,3,4 "
filters SuperAnnotate '{"metadata":{"name":"a.mp4"},"instances":[{"meta":{"className":"walk","start":500000,"end":1700000}}]}' \
	"a.mp4,walk,0.5,1.7 "
filters Supervisely '{"framesCount":50,"tags":[{"name":"walk","frameRange":[25,49]},{"name":"indoor"}]}' \
	"NAME,walk,1,2 "
filters FiftyOne '{"classes":["walk","fall"],"labels":{"a":[{"label":1,"timestamps":[0.5,1.7]}],"b":null}}' \
	"data/a.mp4,fall,0.5,1.7 "
filters WLASL '[{"gloss":"book","instances":[{"video_id":"1","frame_start":1,"frame_end":-1},{"video_id":"2","frame_start":26,"frame_end":50}]}]' \
	"1.mp4,book,, 2.mp4,book,1,2 "
filters SoccerNet '{"annotations":[{"gameTime":"2 - 00:31","label":"Goal","position":"31250"}]}' \
	"2_224p.mkv,Goal,30.25,32.25 "

converts jq "FERAL" '{"class_names":{"0":"other","1":"walk"},"labels":{"a.mp4":[0,1,1,0],"b.mp4":[1]},"splits":{}}' \
	"$(recipe 'FERAL')" "a.mp4,other,0,1 a.mp4,walk,1,3 a.mp4,other,3,4 b.mp4,walk,0,1 "

columns=$(recipe 'CSV with other names')
converts python3 "columns of EPIC-KITCHENS" 'narration_id,video_id,start_timestamp,stop_timestamp,narration,verb_class
1,P01_01,00:00:00.50,00:01:01.70,"take cup, plate",3
' "$(printf '%s' "$columns" | sed 's/PATH LABEL START END/video_id verb_class start_timestamp stop_timestamp/')" \
	"P01_01,3,0.5,61.7 "
converts awk "A label in each line" 'SIL
SIL
take cup
take cup
take cup
SIL
' "$(recipe 'A label in each line' | sed 's/=NAME/=a.mp4/')" "a.mp4,SIL,0,2 a.mp4,take cup,2,5 a.mp4,SIL,5,6 "
converts awk "THUMOS14" 'v_1  0.5 1.7
v_1  2.2 3.5
' "$(recipe 'THUMOS14' | sed 's/=NAME/=Diving/')" "v_1.mp4,Diving,0.5,1.7 v_1.mp4,Diving,2.2,3.5 "
converts awk "Breakfast" '1-30 SIL  
31-45 take_cup  
' "$(recipe 'Breakfast' | sed 's/=NAME/=a.mp4/')" "a.mp4,SIL,0,30 a.mp4,take_cup,30,45 "
converts awk "DeepEthogram" ',background,groom,run
0,1,0,0
1,0,1,0
2,0,1,1
3,0,0,1
' "$(recipe 'DeepEthogram' | sed 's/=NAME/=a.mp4/')" "a.mp4,groom,1,3 a.mp4,run,2,4 "
converts awk "BENTO" 'Bento annotation file
Annotation stop time: 5

List of annotations:
attack
mount

Ch1----------
>attack
Start	 Stop	 Duration 
6	17	11
23	25	2

>mount
Start	 Stop	 Duration 
30	35	5

' "$(recipe 'BENTO' | sed 's/=NAME/=a.mp4/')" "a.mp4,attack,5,17 a.mp4,attack,22,25 a.mp4,mount,29,35 "
converts awk "Datavyu CSV" 'file,column,gesture.ordinal,gesture.onset,gesture.offset,gesture.hand,gesture.type
s01,gesture,1,500,1700,left,wave
' "$(recipe 'Datavyu CSV')" "s01.mp4,wave,0.5,1.7 "
converts awk "UCF-Crime" 'A1.mp4  Arson  10  20  30  40  
A2.mp4  Abuse  5  20  -1  -1  
N.mp4  Normal  -1  -1  -1  -1  
' "$(recipe 'UCF-Crime')" "A1.mp4,Arson,10,20 A1.mp4,Arson,30,40 A2.mp4,Abuse,5,20 "
plan
