import type { Walk } from '../../../../application/ports/tracer.js';
import type { IpFamily } from '../../../../domain/net/ip-family.js';
export function readActualWalk(_: IpFamily): Promise<Walk> {
  return Promise.reject(new Error('not yet'));
}
