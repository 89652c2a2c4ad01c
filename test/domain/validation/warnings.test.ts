import { warningsOf, EXTERNAL_IPS_END } from '../../../src/domain/validation/warnings.js';

it.each([
  [
    'Service',
    { spec: { externalIPs: ['192.0.2.1'] } },
    [{ field: 'spec.externalIPs', what: EXTERNAL_IPS_END }],
  ],
  ['Service', { spec: { externalIPs: [] } }, []],
  ['Service', { spec: {} }, []],
  ['Service', {}, []],
  ['Node', { spec: { externalIPs: ['192.0.2.1'] } }, []],
])('of a %s like %j', (kind, object, warnings) => {
  expect([...warningsOf(kind, object)]).toEqual(warnings);
});
