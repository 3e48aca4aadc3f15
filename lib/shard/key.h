#ifndef SHARD_KEY_H
#define SHARD_KEY_H

/*
 * A sample's key names its members in a shard.  It consists of [A-Za-z0-9_=-]+
 * components separated by '/', 1 to 80 bytes in all.  No component has the form
 * __x__.
 */
#define KEY_MAX 80

/*
 * key_from_path(path, key):
 * Write the key of video ${path} to ${key}[KEY_MAX + 1].  Return 0, or -1 after
 * a message if no name remains.
 *
 * Empty and "." components and the last extension are omitted.  Each byte
 * outside [A-Za-z0-9_/-] becomes '=XX', so that different names have different
 * keys.  A key longer than KEY_MAX is truncated and gets a hash.
 *
 * Two paths that differ only in the extension or in a leading '/' have the same
 * key.  The caller must detect this.
 */
int key_from_path(const char *path, char *key);

/* key_is_valid(key): Return 1 if ${key} is a valid key, 0 otherwise. */
int key_is_valid(const char *key);

#endif
