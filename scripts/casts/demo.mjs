import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { Recording } from './recording.mjs';

const root = fileURLToPath(new URL('../..', import.meta.url));

/** What is edited while the demo runs, and what it says then. */
const EDITS = [
  {
    mark: 'an endpoint is deleted',
    edit: (text) => text.replace(/^ *- \{ addresses: \[10\.244\.1\.13\].*\n/m, ''),
    said: /the responses have changed/,
  },
  {
    mark: 'an edit that is not valid',
    edit: (text) => text.replace('port: 80,', 'port: 80000,'),
    said: /the last valid version stays/,
  },
  {
    mark: 'the edit is fixed',
    edit: (text) => text.replace('port: 80000,', 'port: 80,'),
    said: /everything is valid again/,
  },
];

/** In seconds: a busy machine delays no viewer. */
const LONGEST_PAUSE = 3;

/** The first minute of `npm start`. */
export async function demo() {
  const recording = new Recording('npm start');
  const folder = mkdtempSync(join(tmpdir(), 'kubeproxy-casts-'));
  cpSync(`${root}/deploy/examples`, join(folder, 'deploy/examples'), { recursive: true });
  const web = join(folder, 'deploy/examples/web.yaml');
  recording.type('npm start');
  const command = `${process.execPath} ${root}scripts/start.mjs --examples deploy/examples`;
  // A terminal, so that the demo prints what it prints on one.
  const terminal = spawn('script', ['--quiet', '--return', '--flush', '--command', command, '/dev/null'], {
    cwd: folder,
  });
  const ended = once(terminal, 'exit');
  let output = '';
  let last = performance.now();
  const recordPause = () => {
    const now = performance.now();
    recording.pause(Math.min((now - last) / 1000, LONGEST_PAUSE));
    last = now;
  };
  terminal.stdout.setEncoding('utf8').on('data', (text) => {
    recordPause();
    output += text;
    recording.print(text.replaceAll(`${folder}/`, ''));
  });
  const says = async (pattern, since = 0) => {
    const deadline = Date.now() + 60_000;
    while (!pattern.test(output.slice(since))) {
      if (Date.now() > deadline || terminal.exitCode !== null)
        throw new Error(`the demo does not say ${pattern}, but:\n${output}`);
      await sleep(50);
    }
  };
  try {
    await says(/Ctrl-C ends the demo/);
    for (const { mark, edit, said } of EDITS) {
      await sleep(4000);
      const since = output.length;
      recordPause();
      recording.mark(mark);
      writeFileSync(web, edit(readFileSync(web, 'utf8')));
      await says(said, since);
    }
    await sleep(4000);
    terminal.stdin.write('\x03');
    await ended;
  } finally {
    terminal.kill();
    rmSync(folder, { recursive: true });
  }
  return recording;
}
