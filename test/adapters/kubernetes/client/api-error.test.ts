import {
  ApiConnectionError,
  ApiError,
  ApiProtocolError,
} from '../../../../src/adapters/kubernetes/client/api-error.js';

const long = 'x'.repeat(5_000_000);

it.each([
  ['a refusal', new ApiError('GET /', 403, 'Forbidden', long)],
  ['its reason', new ApiError('GET /', 403, long, '')],
  ['a connection that breaks', new ApiConnectionError('GET /', long)],
  ['a server that violates its protocol', new ApiProtocolError('GET /', long)],
])('keeps the first KiB of what the API server says: %s', (_, { message }) => {
  expect(message).toMatch(/^GET \/: .*x… \(\d+ more characters\)$/);
  expect(message.length).toBeLessThan(1_200);
});
