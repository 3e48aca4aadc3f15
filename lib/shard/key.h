#ifndef SHARD_KEY_H
#define SHARD_KEY_H

/*
 * A sample's key names its members in a shard: [A-Za-z0-9_=-]+ with '/'
 * between components, 1 to 80 bytes, no component of the form __x__.
 */
#define KEY_MAX 80

/*
 * key_from_path(path, key): the key of video ${path}: without empty and "." components and the last extension, every byte outside
 * [A-Za-z0-9_/-] as '=XX', so that different files have different keys; one
 * longer than KEY_MAX is cut and gets a hash.  Two files that differ only in
 * the extension, or in a leading '/', share a key: the caller must look.
 * Write it to ${key}[KEY_MAX + 1].  -1 after a message if nothing is left.
 */
int key_from_path(const char *path, char *key);

/* key_is_valid(key): 1 or 0. */
int key_is_valid(const char *key);

#endif
