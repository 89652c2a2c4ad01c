/**
 * `npm start`: installs what is missing and runs the demo. Uses only Node's own modules until the set-up has run.
 *
 *   npm start -- [--for SECONDS] [--examples FOLDER] [--prefix NAME]
 */
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
process.env.PATH += ':/usr/local/sbin:/usr/sbin:/sbin';

function prepare(command, ...args) {
  const { status, signal, error } = spawnSync(command, args, {
    cwd: root,
    stdio: ['ignore', 'inherit', 'inherit'],
  });
  if (status === 0) return;
  console.error(
    `npm start: ${[command, ...args].join(' ')} failed (${error?.message ?? signal ?? `status ${status}`}).`,
  );
  process.exit(1);
}

if (process.getuid?.() !== 0) {
  console.error(
    'npm start: the demo creates network namespaces and nftables rules inside them, which requires root. Try: sudo npm start',
  );
  process.exit(1);
}
prepare('sh', 'scripts/setup.sh', 'demo');
prepare(process.execPath, 'scripts/build.mjs');
const { main } = await import('./demo/main.mjs');
process.exitCode = await main(process.argv.slice(2));
