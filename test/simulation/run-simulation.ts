import { execa } from 'execa';

/** `npm run simulate` with these arguments, as people start it: what it prints, and its exit code. */
export async function runSimulation(
  ...args: readonly string[]
): Promise<{ readonly text: string; readonly exitCode: number | undefined }> {
  const { all: text, exitCode } = await execa('node', ['scripts/simulate.mjs', ...args], {
    all: true,
    reject: false,
  });
  return { text, exitCode };
}
