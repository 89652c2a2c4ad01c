import { acceptedSourcesText, SOURCE_WORDS } from '../../../../src/diagnostics/application/words.js';

it('says what becomes of the source of packets', () => {
  expect(SOURCE_WORDS).toEqual({
    always: 'rewritten to an address of this node',
    never: 'kept',
    mixed: 'rewritten for some endpoints, or depending on the routes of the node',
  });
});

it('says whom load-balancer IPs serve', () => {
  expect(acceptedSourcesText(['192.0.2.0/24', '198.51.100.7/32'])).toBe(
    'load-balancer IPs accept only 192.0.2.0/24, 198.51.100.7/32',
  );
});
