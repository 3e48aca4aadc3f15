#!/bin/sh
# vt-pack --foreign: archives in the layout of WebDataset and folders of pictures
# are packed, verified and trained on, and input that does not fit is refused.
# tests/run: weight 10
cd "${0%/*}/../.." || exit 2
. tests/lib.sh
videos_begin
cd "$T" || exit 2

# Pictures of two classes in two sizes, and one PNG.
mkdir -p stills/run "stills/high jump"
for i in 1 2 3 4; do
	ffmpeg -v error -f lavfi -i testsrc=size=64x48:rate=1 -frames:v 1 -vf "hue=h=$((i * 40))" "stills/run/a$i.jpg"
	ffmpeg -v error -f lavfi -i testsrc2=size=80x60:rate=1 -frames:v 1 -vf "hue=h=$((i * 40))" "stills/high jump/b $i.jpg"
done
ffmpeg -v error -f lavfi -i testsrc=size=64x48:rate=1 -frames:v 1 a.png

# members FILE [NAME CONTENT]...: write a tar by Python's tarfile. CONTENT is a
# text, or the name of a file after @.
members() {
	python3 - "$@" <<-'P'
	import io, sys, tarfile
	t = tarfile.open(sys.argv[1], "w")
	for name, content in zip(sys.argv[2::2], sys.argv[3::2]):
	    data = open(content[1:], "rb").read() if content[:1] == "@" else content.encode()
	    i = tarfile.TarInfo(name)
	    i.size = len(data)
	    t.addfile(i, io.BytesIO(data))
	t.close()
	P
}
# field KEY NAME SET: print a field of the .json of a sample.
field() {
	vt-pack --cat "$1:" -i "$3" | tar xOf - "$1.json" | jq -c ".$2"
}
# refused WHY MESSAGE [NAME CONTENT]...: check that such an archive is refused
# with one line.
refused() {
	why=$1 message=$2
	shift 2
	members bad.tar "$@"
	check_message "$why: refused" 1 "$message" vt-pack -n --foreign=webdataset -o no bad.tar
	check_same "$why: one line" 1 "$(grep -c error: "$T/err")"
}
a1=@stills/run/a1.jpg a2=@stills/run/a2.jpg a3=@stills/run/a3.jpg

# ---- webdataset ----

members one.tar n1.cls 0 n1.jpg $a1 n1.json '{"caption":"x","label":7}' n2.jpeg $a2 n2.cls '1
' ./d.x/n\ 3.JPG $a3 './d.x/n 3.json' '{"label":1}' n4.txt 'a caption' n4.jpg $a1 n4.json '{"label":0}'
check_exit "an archive of webdataset is packed" 0 vt-pack --foreign=webdataset -o one one.tar
check_same "its keys, labels and sizes" "n1 0 1 64 48,n2 1 1 64 48,d=2Ex/n=203 1 1 64 48,n4 0 1 64 48," \
	"$(vt-pack --list -i one | tail -n +2 | cut -f1,2,4-6 | tr '\t\n' ' ,')"
check_exit "it decodes" 0 vt-pack --verify=decode -i one
vt-pack --cat n2:0 -i one >n2.jpg
check "frames are stored unchanged" cmp n2.jpg stills/run/a2.jpg
check_same "the frame rate is not known" '[0,0]' "$(field n1 fps one)"
check_same "the size of the source is that of the frame" "$(wc -c <stills/run/a2.jpg | tr -d ' ')" "$(field n2 src_bytes one)"
check_exit "the same command compares" 0 vt-pack --foreign=webdataset -o one one.tar
check_exit "-, a pipe, gives" 0 sh -c 'vt-pack --foreign=webdataset -o piped - <one.tar'
check "the same bytes" diff -r -x .vt-pack.lock one piped

members series.tar s.10.jpg $a3 s.2.jpg $a2 s.000001.jpg $a1 s.cls 0 t.frame07.jpg $a2 t.frame5.jpg $a1 t.cls 1
vt-pack -q --foreign=webdataset -o series series.tar >/dev/null
for i in 0 1 2; do vt-pack --cat s:$i -i series; done >frames
cat stills/run/a1.jpg stills/run/a2.jpg stills/run/a3.jpg >want
check "frames are sorted by number" cmp frames want
vt-pack --cat t:0 -i series >frames
check "and by a number after a word" cmp frames stills/run/a1.jpg
check_same "all are there" "3 2" "$(vt-pack --list -i series | tail -n +2 | cut -f4 | tr '\n' ' ' | sed 's/ $//')"

printf 'run\nhigh jump\n' >classes.txt
members named.tar x.jpg $a1 x.txt 'high jump' y.txt run y.jpg $a2
vt-pack -q --foreign=webdataset --classes=classes.txt -o named named.tar >/dev/null
check_same ".txt is a class of --classes" "1 0" "$(vt-pack --list -i named | tail -n +2 | cut -f2 | tr '\n' ' ' | sed 's/ $//')"
members bare.tar x.jpg $a1 y.jpg $a2
vt-pack -q --foreign=webdataset -o bare bare.tar >/dev/null
check_same "a set without classes" "-1 -1" "$(vt-pack --list -i bare | tail -n +2 | cut -f2 | tr '\n' ' ' | sed 's/ $//')"
# Python's tarfile writes such names and owners in pax headers.
members utf8.tar 'grüße/日.jpg' $a1 'grüße/日.cls' 0
check_exit "names in UTF-8 are packed in the POSIX locale" 0 env LC_ALL=C vt-pack --foreign=webdataset -o utf8 utf8.tar
check_same "their bytes are the key" "gr=C3=BC=C3=9Fe/=E6=97=A5 0" "$(vt-pack --list -i utf8 | tail -n +2 | cut -f1,2 | tr '\t' ' ')"
members png.tar x.png @a.png x.cls 0
check_exit "PNG is packed" 0 vt-pack --foreign=webdataset -o png png.tar
check_exit "PNG decodes" 0 vt-pack --verify=decode -i png

check_exit "without =webdataset it is refused" 1 vt-pack -n --foreign -o no bare.tar
check_says "the message names the option" "member x.jpg: .*--foreign=webdataset takes KEY.jpg"
members plain.tar x.000000.jpg $a1 y.000000.jpg $a2
check_exit "frames with numbers likewise" 1 vt-pack -n --foreign -o no plain.tar
check_says "the message names the option" "wanted x.json.*--foreign=webdataset takes samples without"

refused "a video" "bad.tar: offset 1024: member x.mp4: not a kind of member that is packed .*--skip-foreign" x.cls 0 x.mp4 v
check_exit "--skip-foreign needs a frame" 1 vt-pack -n --foreign=webdataset --skip-foreign -o no bad.tar
check_says "the message" "member x.cls: its sample has no frame"
members skip.tar x.cls 0 x.jpg $a1 x.mp4 v
check_exit "--skip-foreign omits it" 3 vt-pack -q --foreign=webdataset --skip-foreign -o skip skip.tar
refused "two sizes" "offset [0-9]*: member x.2.jpg: another size than the frame before" \
	x.1.jpg $a1 x.2.jpg "@stills/high jump/b 1.jpg"
refused "JPEG and PNG" "member y.png: JPEG and PNG in one set" x.jpg $a1 y.png @a.png
refused "a PNG named .jpg" "member x.jpg: not a JPEG" x.jpg @a.png
refused "a truncated header" "member x.jpg: not a JPEG" x.jpg no
refused "an empty frame" "member x.jpg: empty" x.jpg ''
refused "a number twice" "member x.01.jpg: its sample has two frames of this number" x.1.jpg $a1 x.01.jpg $a2
refused "a frame without a number" "its sample also has a frame without a number" x.1.jpg $a1 x.jpg $a2
refused "a label in letters" "member x.cls: not a label in decimal digits \(the name of a class is in a .txt, with --classes\)" x.cls run x.jpg $a1
printf '1\0junk' >zero.cls
refused "a zero byte in a label" "member x.cls: not a label in decimal digits" x.cls @zero.cls x.jpg $a1
refused "a second line in a label" "member x.cls: not a label in decimal digits" x.cls '1
junk' x.jpg $a1
refused "a .json that is not JSON" "bad.tar: x.json: not valid JSON at line 1" x.json '[[[[' x.jpg $a1
refused "a .json with two labels" "bad.tar: x.json: not valid JSON .*duplicate" x.json '{"label":1,"label":2}' x.jpg $a1
for label in true 1.0 -2 '"run"' '[1]' 4294967296; do
	refused "the label $label" "x.json: label .* \\(wanted an integer from 0; the name of a class" x.jpg $a1 x.json "{\"label\":$label}"
done
members none.tar x.json '{"label":null}' x.jpg $a1 y.json '{"label":-1}' y.jpg $a2 z.json '[1]' z.jpg $a3
check_exit "null, -1 and no object: no label" 0 vt-pack --foreign=webdataset -o none none.tar
check_same "such a set has no labels" "x -1 y -1 z -1" "$(vt-pack --list -i none | tail -n +2 | cut -f1,2 | tr '\t\n' '  ' | sed 's/ $//')"
members both.tar x.json '[[[[' x.cls 0 x.jpg $a1
check_exit "a .cls counts, not the .json" 0 vt-pack -n --foreign=webdataset -o no both.tar
refused "two labels" "member x.cls: a second label" x.cls 1 x.cls 1 x.jpg $a1
refused "a missing class" "offset [0-9]*: member y.jpg: its sample has no class" x.cls 0 x.jpg $a1 y.jpg $a2
refused "a class after none" "member y.jpg: its sample has a class, but the first" x.jpg $a1 y.jpg $a2 y.cls 0
refused "a sample in two parts" "key x is used already" x.jpg $a1 y.jpg $a2 x.jpg $a3
refused "a name without an extension" "member readme: no key and extension" readme x
members bad.tar x.jpg $a1 x.txt swim
check_exit "a .txt that --classes lacks" 1 vt-pack -n --foreign=webdataset --classes=classes.txt -o no bad.tar
check_says "the message" "member x.jpg: its sample has no class"
head -c 2000 one.tar >cut.tar
check_message "a truncated archive" 1 "the pipe broke" vt-pack -n --foreign=webdataset -o no cut.tar
check_message "a shard of vt" 1 "a description by vt" vt-pack -n --foreign=webdataset -o no one/shard-000000.tar

# ---- folders ----

echo x >"stills/high jump/Thumbs.db"
echo x >stills/notes.txt
check_exit "a folder of pictures is packed" 0 vt-pack --foreign -o folder stills
check_says "a note counts the files that are not data" 'stills: skipped 2 names of no data: Thumbs.db, ...'
rm "stills/high jump/Thumbs.db" stills/notes.txt
check_same "its classes are the subfolders" "high jump,run," "$(tr '\n' , <folder/classes.txt)"
check_same "its samples" "high=20jump/b=201 0 1 80 60,run/a4 1 1 64 48," \
	"$(vt-pack --list -i folder | sed -n '2p;9p' | cut -f1,2,4-6 | tr '\t\n' ' ,')"
check_exit "they decode" 0 vt-pack --verify=decode -i folder
check_same "the source is the path in the folder" '"high jump/b 1.jpg"' "$(field high=20jump/b=201 src folder)"
check_exit "the same picture in two sets is found" 1 vt-pack --describe folder one
vt-pack -q --foreign --classes=classes.txt -o given stills >/dev/null
check_same "--classes gives the labels" "1 0" "$(vt-pack --list -i given | sed -n '2p;9p' | cut -f2 | tr '\n' ' ' | sed 's/ $//')"
echo run >few.txt
check_exit "a class that --classes lacks" 1 vt-pack -n --foreign --classes=few.txt -o no stills
check_says "the message" "high jump.: not in the list of classes"
check_message "a folder without --foreign" 1 "a directory .*--foreign takes folders of pictures" vt-pack -n -o no stills
echo x >stills/run/notes.gif
check_exit "another file" 1 vt-pack -n --foreign -o no stills
check_says "the message" "stills/run/notes.gif: not a kind of member that is packed .*--skip-foreign"
check_exit "--skip-foreign omits it" 3 vt-pack -n --foreign --skip-foreign -o no stills
rm stills/run/notes.gif
mkdir -p dots/cat
cp stills/run/a1.jpg dots/cat/cat.1.jpg
cp stills/run/a2.jpg dots/cat/cat.2.jpg
check_exit "names with several dots are packed" 0 vt-pack --foreign -o dotted dots
check_same "their keys differ" "cat/cat=2E1 cat/cat=2E2" "$(vt-pack --list -i dotted | tail -n +2 | cut -f1 | tr '\n' ' ' | sed 's/ $//')"
cp stills/run/a1.jpg stills/top.jpg
check_message "a picture without a class" 1 "stills/top.jpg: not a folder" vt-pack -n --foreign -o no stills
rm stills/top.jpg
mkdir empty
check_message "an empty folder" 1 "empty: no pictures" vt-pack -n --foreign -o no empty

# ---- training ----

small_net 4 >net.net
vt-schedule --batch=4 --frames=4 --crop=32 --bn-size=2 --epochs=1 >s.tsv
for set in folder series; do
	check_exit "a network trains on $set" 0 vt-train -q -i $set -m net.net --schedule s.tsv --device=ref -o run-$set
done
check_same "two steps" 2 "$(jq -s 'map(.step // 0) | max' run-folder/log.jsonl)"

# ---- webdataset itself ----

if python3 -c 'import webdataset' 2>/dev/null; then
	python3 - <<-'P'
	import webdataset
	with webdataset.TarWriter("web.tar") as w:
	    for i in (1, 2):
	        w.write({"__key__": "k%d" % i, "jpg": open("stills/run/a%d.jpg" % i, "rb").read(), "cls": i - 1})
	P
	check_exit "an archive that webdataset wrote" 0 vt-pack --foreign=webdataset -o web web.tar
	check_same "has its labels" "0 1" "$(vt-pack --list -i web | tail -n +2 | cut -f2 | tr '\n' ' ' | sed 's/ $//')"
else
	skip "an archive that webdataset wrote" "no webdataset"
fi
plan
