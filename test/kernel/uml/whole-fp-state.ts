import { execa } from 'execa';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';

/**
 * User-mode Linux 6.1 keeps 2696 bytes of a process's floating-point state. On a processor whose state is larger, as with AMX,
 * the host's kernel takes the whole of it or nothing (xstateregs_set), and the guest panics at its start. This stands before
 * the C library's ptrace and gives the whole: what the guest has, and behind that what the process has at that moment, which
 * nothing in the guest can use.
 */
const SOURCE = `
enum { SYS_PTRACE = 101, PEEK_FIRST = 1, PEEK_LAST = 3, GETREGSET = 0x4204, SETREGSET = 0x4205, XSTATE = 0x202 };

struct part { void *start; unsigned long length; };

long syscall(long number, ...);
void *memcpy(void *to, const void *from, unsigned long length);

static long set_state(long process, const struct part *state)
{
	static char room[65536];
	struct part whole = { room, sizeof room };

	if (syscall(SYS_PTRACE, GETREGSET, process, (long)XSTATE, &whole) != 0 || whole.length <= state->length)
		return syscall(SYS_PTRACE, SETREGSET, process, (long)XSTATE, state);
	memcpy(room, state->start, state->length);
	return syscall(SYS_PTRACE, SETREGSET, process, (long)XSTATE, &whole);
}

long ptrace(long request, long process, long address, void *data)
{
	long word;

	if (request >= PEEK_FIRST && request <= PEEK_LAST)
		return syscall(SYS_PTRACE, request, process, address, &word) < 0 ? -1 : word;
	if (request == SETREGSET && address == XSTATE)
		return set_state(process, data);
	return syscall(SYS_PTRACE, request, process, address, data);
}
`;

/** Compiles it into that folder. Returns the file to name in LD_PRELOAD. */
export async function wholeFpState(folder: string): Promise<string> {
  const library = join(folder, 'whole-fp-state.so');
  await writeFile(join(folder, 'whole-fp-state.c'), SOURCE);
  await execa('tcc', ['-shared', '-nostdlib', '-o', library, join(folder, 'whole-fp-state.c')]);
  return library;
}
