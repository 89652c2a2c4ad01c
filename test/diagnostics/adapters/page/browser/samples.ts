import { timeText } from '../../../../../src/domain/model/text.js';
import type { ServicePortChange } from '../../../../../src/application/status/change-entry.js';
import type { ServiceRow } from '../../../../../src/diagnostics/application/status/service-row.js';

const NO_CHANGE = { now: 2, added: 0, removed: 0, turned: 0, some: [] };

/** A change of port `http` of `shop/cart`, that was programmed in 10 ms. */
export function serviceChange(more: Partial<ServicePortChange> = {}): ServicePortChange {
  return {
    what: 'service-port',
    family: 'IPv4',
    at: timeText(1_000),
    steps: 3,
    servicePort: 'shop/cart/tcp/http',
    result: 'programmed',
    event: timeText(990),
    took: 10,
    endpoints: NO_CHANGE,
    frontends: NO_CHANGE,
    ...more,
  };
}

/** A Service of namespace `shop`, with two endpoints, that is programmed. */
export function serviceRow(name: string, more: Partial<ServiceRow> = {}): ServiceRow {
  return {
    namespace: 'shop',
    name,
    type: 'ClusterIP',
    frontends: ['10.96.0.80:80/TCP'],
    endpoints: { used: 2, known: 2 },
    state: 'programmed',
    ...more,
  };
}
