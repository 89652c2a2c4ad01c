/**
 * Makes the recordings in docs/internals/casts: `node scripts/casts.mjs [NAME…]`, as root, after `npm run build`. Everything runs in
 * network namespaces of its own. Times of day, numbers of processes and requests that chance distributes differ from one recording to the
 * next.
 */
import { writeFileSync } from 'node:fs';
import { compare, explain } from './casts/asking.mjs';
import { demo } from './casts/demo.mjs';

const CASTS = { demo, explain, compare };

const chosen = process.argv.slice(2);
for (const name of chosen.length > 0 ? chosen : Object.keys(CASTS)) {
  if (!Object.hasOwn(CASTS, name))
    throw new Error(`there is no recording ${name}, but: ${Object.keys(CASTS).join(', ')}`);
  const recording = await CASTS[name]();
  writeFileSync(new URL(`../docs/internals/casts/${name}.cast`, import.meta.url), `${recording}`);
}
