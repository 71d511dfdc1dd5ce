// Brings a click on a notice to the page. It keeps nothing, and answers for no
// request: what waits is only known by asking the server.
addEventListener('install', () => skipWaiting())
addEventListener('activate', (e) => e.waitUntil(clients.claim()))
addEventListener('notificationclick', (e) => {
  e.notification.close()
  e.waitUntil(see(e.notification.data))
})

async function see(path) {
  const [page] = await clients.matchAll({ type: 'window', includeUncontrolled: true })
  if (!page) return clients.openWindow(path)
  page.postMessage({ see: path })
  return page.focus()
}
