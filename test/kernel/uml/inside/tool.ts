import { execa } from 'execa';
import { readFile, writeFile } from 'node:fs/promises';
import type { Shell } from './recorded-kernel.js';

/** A user without any privilege. */
export const NOBODY = 65534;

/** Runs a command to its end; fails with its stderr when it fails. What it printed. */
export async function tool(...command: readonly string[]): Promise<string> {
  const [file, ...parameters] = command;
  const { stdout } = await execa(file!, parameters, { stdin: 'ignore' });
  return stdout;
}

/** The guest itself, as a place to run commands in. */
export const here: Shell = {
  run: async ([file, ...parameters], input) => (await execa(file!, parameters, { input })).stdout,
};

/** The lines of a listing, without empty ones, in order of their text. */
export function linesOf(listing: string): readonly string[] {
  return listing
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '')
    .sort();
}

/** Does something without any privilege. */
export async function asNobody(work: () => Promise<void>): Promise<void> {
  process.seteuid!(NOBODY);
  try {
    await work();
  } finally {
    process.seteuid!(0);
  }
}

/** Does something while the kernel cannot load modules by itself. */
export async function withoutModules(work: () => Promise<void>): Promise<void> {
  const loader = '/proc/sys/kernel/modprobe';
  const usual = await readFile(loader, 'utf8');
  await writeFile(loader, '/bin/false');
  try {
    await work();
  } finally {
    await writeFile(loader, usual);
  }
}
