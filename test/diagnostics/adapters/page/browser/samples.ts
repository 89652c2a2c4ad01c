import { timeText } from '../../../../../src/domain/model/text.js';
import type { ServicePortChange } from '../../../../../src/application/status/change-entry.js';

const NO_CHANGE = { count: 2, added: 0, removed: 0, changed: 0, examples: [] };

/** A change of port `http` of `shop/cart`, that was programmed in 10 ms. */
export function serviceChange(more: Partial<ServicePortChange> = {}): ServicePortChange {
  return {
    kind: 'service-port',
    family: 'IPv4',
    time: timeText(1_000),
    writtenSteps: 3,
    servicePort: 'shop/cart:http',
    result: 'programmed',
    eventTime: timeText(990),
    durationSeconds: 0.01,
    endpointChange: NO_CHANGE,
    frontendChange: NO_CHANGE,
    ...more,
  };
}
