import { execFile } from 'node:child_process';

/**
 * Runs a command to its end. What it printed, without the last end of line. A test runs hundreds of them, and this takes half of what
 * `execa` takes.
 * @throws with its stderr when it fails
 */
export function runToEnd([file, ...args]: readonly string[], input = ''): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = execFile(file!, args, { maxBuffer: 512 * 1024 * 1024 }, (error, stdout, stderr) => {
      if (!error) return resolve(stdout.replace(/\n$/, ''));
      const end = error.signal ?? error.code ?? 'no exit status';
      reject(new Error(`${[file, ...args].join(' ')} ended with ${end}: ${stderr}`, { cause: error }));
    });
    // It may end without reading.
    child.stdin!.on('error', () => undefined);
    child.stdin!.end(input);
  });
}
