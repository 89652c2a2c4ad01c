import { healthCheckWords } from '../../../../src/diagnostics/application/words.js';

it.each([
  [{ listening: true }, 'listening'],
  [{ listening: false }, 'not listening'],
  [{ listening: false, problem: 'EADDRINUSE' }, 'not listening: EADDRINUSE'],
])('a health check that is %j', (parts, state) => {
  expect(healthCheckWords({ port: 32_000, localEndpoints: 2, ...parts })).toBe(
    `health check on port 32000: ${state}; endpoints on the node: 2`,
  );
});
