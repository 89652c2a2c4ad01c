import type { Encoding } from '../encoding/encoding.js';
import { JsonListDecoder } from './json-list-decoder.js';
import { JsonWatchDecoder } from './json-watch-decoder.js';

/** Objects as JSON; a watch sends one document in each line. */
export const jsonEncoding: Encoding = {
  listDecoder: (kind) => new JsonListDecoder(`${kind}List`),
  watchDecoder: () => new JsonWatchDecoder(),
  status: (body) => (JSON.parse(body.toString('utf8')) as object | null) ?? {},
};
