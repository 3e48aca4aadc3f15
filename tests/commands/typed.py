"""typed.py SETUP COMMAND...: start an interactive shell, COMMAND, let it read
the file SETUP, then type each line of standard input, where \\t is the Tab key.
Print what the line made the shell print between << and >>, a line each."""
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
    if got is None:		# not completed to a whole command: start anew
        os.write(fd, b"\x03")
        read_until(fd, PROMPT, 2)
    print(got.group(1).decode() if got else "nothing: %r" % text, flush=True)
os.close(fd)
