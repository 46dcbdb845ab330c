/* The service worker: keeps the files of this version, so that the page works without a network. `make web` writes the
 * version, which changes with the files' content, and their names. */
const VERSION = '@VERSION@';
const FILES = ['@FILES@'];
const NAME = 'mxlite-page-',
  CACHE = `${NAME}${new URL(self.registration.scope).pathname}-${VERSION}`;
const OWN = CACHE.slice(0, -VERSION.length);

self.addEventListener('install', (event) =>
  event.waitUntil(
    (async () => {
      const cache = await caches.open(CACHE);
      await cache.addAll(FILES.map((name) => new Request(name, {cache: 'reload'})));
    })(),
  ),
);

/* The files of earlier versions; a page of theirs that is still open prevents this. */
self.addEventListener('activate', (event) =>
  event.waitUntil(
    (async () => {
      for (const name of await caches.keys()) if (name.startsWith(OWN) && name !== CACHE) await caches.delete(name);
      await self.clients.claim();
    })(),
  ),
);

self.addEventListener('fetch', (event) => {
  const {request} = event;
  if (request.method !== 'GET' || !request.url.startsWith(self.registration.scope)) return;
  event.respondWith(
    (async () => {
      const cache = await caches.open(CACHE),
        kept = await cache.match(request, {ignoreSearch: true});
      return kept || fetch(request);
    })(),
  );
});
