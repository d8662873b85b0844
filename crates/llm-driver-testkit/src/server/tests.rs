use super::*;
use crate::{End, Framing, Piece, Progress};
use bytes::Bytes;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

const SOON: Duration = Duration::from_secs(5);

async fn ask(server: &FakeServer) -> TcpStream {
    let mut socket = TcpStream::connect(server.address()).await.unwrap();
    send(&mut socket).await;
    socket
}

async fn send(socket: &mut TcpStream) {
    let request = b"POST /v1/chat HTTP/1.1\r\nhost: x\r\ncontent-length: 2\r\n\r\n{}";
    socket.write_all(request).await.unwrap();
}

/// Everything until the server closes, and how that ended.
async fn read_all(mut socket: TcpStream) -> (String, std::io::Result<()>) {
    let mut bytes = Vec::new();
    let end = socket.read_to_end(&mut bytes).await.map(|_| ());
    (String::from_utf8_lossy(&bytes).into_owned(), end)
}

async fn read_until(socket: &mut TcpStream, mark: &str) -> String {
    let mut text = String::new();
    while !text.contains(mark) {
        let mut piece = [0; 256];
        let count = socket.read(&mut piece).await.unwrap();
        assert!(count > 0, "closed before {mark:?}: {text:?}");
        text += std::str::from_utf8(&piece[..count]).unwrap();
    }
    text
}

#[tokio::test]
async fn one_connection_serves_a_sequence_of_answers() {
    let server = FakeServer::start([
        Answer::json(200, "{\"a\":1}"),
        Answer::status(200).with_pieces(["one", "two"]),
    ])
    .await
    .unwrap();
    let mut socket = ask(&server).await;
    let first = read_until(&mut socket, "{\"a\":1}").await;
    assert!(first.contains("content-length: 7\r\n"), "{first}");
    send(&mut socket).await;
    let second = read_until(&mut socket, "0\r\n\r\n").await;
    assert!(
        second.ends_with("\r\n\r\n3\r\none\r\n3\r\ntwo\r\n0\r\n\r\n"),
        "{second}"
    );
    send(&mut socket).await;
    assert!(read_until(&mut socket, "no answer left").await.contains(" 500 "));
    assert_eq!(server.connections(), Connections { open: 1, accepted: 1 });
    assert_eq!(server.request_count(), 3);
    assert_eq!(server.requests()[0].body, "{}");
}

#[tokio::test]
async fn faults_are_seen_by_the_client() {
    let body = || Answer::status(200).with_piece("0123456789");
    let server = FakeServer::start([
        body().cut_after(4),
        body().reset_after(4),
        body().with_too_long_length(3),
        body().end_after(4).with_framing(Framing::UntilClose),
        Answer::closed(),
    ])
    .await
    .unwrap();
    let (cut, end) = read_all(ask(&server).await).await;
    assert!(
        cut.ends_with("4\r\n0123\r\n") && end.is_ok(),
        "no last chunk: {cut}"
    );
    let (reset, end) = read_all(ask(&server).await).await;
    assert!(reset.contains("0123"), "what came before the reset is readable");
    assert_eq!(end.unwrap_err().kind(), io::ErrorKind::ConnectionReset);
    let (long, _) = read_all(ask(&server).await).await;
    assert!(
        long.contains("content-length: 13") && long.ends_with("0123456789"),
        "{long}"
    );
    let (open_ended, _) = read_all(ask(&server).await).await;
    assert!(open_ended.ends_with("\r\n\r\n0123"), "{open_ended}");
    assert_eq!(read_all(ask(&server).await).await.0, "");
    assert!(server.wait_for(SOON, |now| now.open == 0).await);
    assert!(
        server
            .requests()
            .iter()
            .all(|request| request.progress == Progress::Ended)
    );
}

#[tokio::test]
async fn a_client_that_goes_away_is_noticed_whatever_the_server_does() {
    let stuck = [
        Answer::silent(),
        Answer::status(200).with_pause(Duration::from_secs(600)),
        Answer::status(200).with_piece("a").with_end(End::Hang),
        Answer::status(200).with_piece(Piece::Hang),
        Answer::status(200).with_piece(Piece::Repeat(Bytes::from_static(&[b'x'; 4096]), usize::MAX)),
        Answer::status(200)
            .with_piece("abc".repeat(1000))
            .drip(1, Duration::from_millis(50)),
    ];
    let server = FakeServer::start(stuck.clone()).await.unwrap();
    for _ in &stuck {
        let before = server.request_count();
        let socket = ask(&server).await;
        assert!(server.wait_for_requests(SOON, before + 1).await);
        tokio::time::sleep(Duration::from_millis(10)).await;
        assert_eq!(server.connections().open, 1);
        drop(socket);
        assert!(server.wait_for(SOON, |now| now.open == 0).await);
        assert_eq!(server.requests()[before].progress, Progress::Dropped);
    }
}

#[tokio::test]
async fn dropping_the_server_closes_everything() {
    let server = FakeServer::always(Answer::silent()).await.unwrap();
    let address = server.address();
    let socket = ask(&server).await;
    assert!(server.wait_for_requests(SOON, 1).await);
    drop(server);
    assert_eq!(read_all(socket).await.0, "");
    assert!(TcpStream::connect(address).await.is_err());
}
