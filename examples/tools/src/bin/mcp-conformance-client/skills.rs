//! Skills of a server, loaded as a host loads them.
use jsonrpc_core::wire::DecodeError;
use mcp_bridge::mcp::base::PaginatedRequestParams;
use mcp_bridge::mcp::dispatch::ClientRequest;
use mcp_bridge::mcp::resources::{ReadResourceRequestParams, ReadResourceResult};
use mcp_bridge::mcp::skills::{ListSkillsResult, Skill, SkillResources};
use mcp_bridge::skills::{check, is_same_frontmatter, verify};
use mcp_bridge_http::McpClient;
use std::error::Error;
use tools::skills::frontmatter;

/// Lists the skills of a server.
pub(crate) async fn list(client: &McpClient) -> Result<Vec<Skill>, Box<dyn Error>> {
    let mut skills = Vec::new();
    let mut params = PaginatedRequestParams::new();
    loop {
        let page = client.request(ClientRequest::ListSkills(Box::new(params))).await?;
        let page: ListSkillsResult = page.decode()?;
        let listed: Result<Vec<_>, DecodeError> = page.skills().map(|(_, skill)| skill).collect();
        skills.extend(listed?);
        let Some(next) = page.next_cursor else { return Ok(skills) };
        params = PaginatedRequestParams::new().with_cursor(next);
    }
}

/// Reads the files of a skill and returns their contents, `SKILL.md` first. No file is used before
/// it is verified.
pub(crate) async fn load(
    client: &McpClient,
    skill: &Skill,
) -> Result<Vec<(String, Vec<u8>)>, Box<dyn Error>> {
    check(skill)?;
    let main = read(client, skill, &skill.uri).await?;
    if !is_same_frontmatter(&frontmatter(str::from_utf8(&main)?)?, &skill.frontmatter) {
        return Err("the frontmatter of the file differs from that of the list".into());
    }
    let mut files = vec![(skill.uri.clone(), main)];
    if let SkillResources::Files(listed) = &skill.resources {
        for file in listed.iter().filter(|file| file.uri != skill.uri) {
            files.push((file.uri.clone(), read(client, skill, &file.uri).await?));
        }
    }
    Ok(files)
}

async fn read(client: &McpClient, skill: &Skill, uri: &str) -> Result<Vec<u8>, Box<dyn Error>> {
    let params = ReadResourceRequestParams::new(uri);
    let read = client.request(ClientRequest::ReadResource(Box::new(params))).await;
    let read: ReadResourceResult = read?.decode()?;
    let contents = read.contents.first().ok_or("the result has no contents")?;
    Ok(verify(skill, contents)?)
}
