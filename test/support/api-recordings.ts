import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { gunzipSync } from 'node:zlib';

const FOLDER = new URL('../recordings/api-server/', import.meta.url);

/** What a real API server sent (test/recordings/api-server). */
export function recording(name: string, encoding: 'json' | 'pb'): Buffer {
  return gunzipSync(readFileSync(fileURLToPath(new URL(`${name}.${encoding}.gz`, FOLDER))));
}
