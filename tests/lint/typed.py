"""typed.py SETUP COMMAND...: type lines into an interactive shell.
Start the shell COMMAND in a pseudoterminal and let it read the file SETUP. Then
type each line of standard input, in which \\t is the Tab key. For each line, print
the text between << and >> that the shell printed."""
import os
import pty
import re
import select
import sys
import time

PROMPT = b"@typed@ "


def read_until(fd, pattern, seconds=20):
    text, end = b"", time.time() + seconds
    while not re.search(pattern, text, re.S):
        left = end - time.time()
        if left <= 0 or not select.select([fd], [], [], left)[0]:
            break
        try:
            text += os.read(fd, 4096)
        except OSError:
            break
    return text


setup, command = sys.argv[1], sys.argv[2:]
pid, fd = pty.fork()
if pid == 0:
    os.environ.update(TERM="dumb", PS1=PROMPT.decode(), INPUTRC="/dev/null",
                      HISTFILE="/dev/null", COLUMNS="200")
    os.execvp(command[0], command)
read_until(fd, PROMPT)
os.write(fd, b". " + setup.encode() + b"; echo read''y\n")
read_until(fd, b"ready.*" + PROMPT)
for line in sys.stdin:
    os.write(fd, line.rstrip("\n").replace("\\t", "\t").encode() + b"\n")
    text = read_until(fd, rb"<<.*>>.*" + PROMPT, 10)
    got = re.search(rb"<<(.*)>>", text, re.S)
    if got is None:		# the line is no complete command: discard it
        os.write(fd, b"\x03")
        read_until(fd, PROMPT, 2)
    print(got.group(1).decode() if got else "nothing: %r" % text, flush=True)
os.close(fd)
