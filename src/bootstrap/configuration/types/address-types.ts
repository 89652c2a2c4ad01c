import { parseAddress } from '../../../domain/net/address.js';
import { parsePort, splitHostPort } from '../../../domain/net/listen-address.js';
import { text } from './scalar-types.js';
import { refuse, type ValueType } from './value-type.js';

/** An IP whose empty flag leaves the default in place. */
export const ip: ValueType<string> = {
  ...text,
  name: 'ip',
  fromFlag(value) {
    if (value === '') return undefined;
    return parseAddress(value) ? value : refuse('an IP address', value);
  },
};

/** `IP` or `IP:port` on the command line, port 0 included; an empty flag leaves the default in place. */
export const ipPort: ValueType<string> = {
  ...text,
  name: 'ipport',
  fromFlag(value) {
    if (value === '') return undefined;
    const parts = splitHostPort(value);
    const valid = parts
      ? parseAddress(parts.host) && parsePort(parts.port, 0) !== undefined
      : parseAddress(value);
    return valid ? value : refuse('an IP address or IP:port', value);
  },
};
