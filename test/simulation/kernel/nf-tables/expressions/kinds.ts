import { ACTING } from './acting.js';
import { asSent, type Kind, type Meaning } from './kind.js';
import { LOADING } from './loading.js';
import type { SentExpression } from './sent-expression.js';

/** Of which nothing is checked although they load something. */
function loadingAsSent(sent: SentExpression): Meaning {
  sent.registers.storeAnything();
  return asSent(sent);
}

const UNCHECKED = [
  'log',
  'limit',
  'quota',
  'last',
  'queue',
  'match',
  'target',
  'tproxy',
  'synproxy',
  'connlimit',
  'dup',
  'fwd',
];
const UNCHECKED_LOADING = ['exthdr', 'hash', 'rt', 'socket', 'osf', 'xfrm', 'tunnel', 'inner'];

/** By their names. */
export const KINDS: Readonly<Record<string, Kind>> = {
  ...Object.fromEntries(UNCHECKED.map((name) => [name, { init: asSent }])),
  ...Object.fromEntries(UNCHECKED_LOADING.map((name) => [name, { init: loadingAsSent }])),
  notrack: { init: asSent, hasNoData: true },
  ...LOADING,
  ...ACTING,
};
